//! The keys of large mixtures of experts.

use super::listed;
use crate::config::Config;
use crate::{CheckpointError, Decoder, ExpertNames, Experts, Groups, Routing, Shares, Storage};

/// What a family of large mixtures says for all models.
#[derive(Clone, Copy, Debug)]
pub struct Mixture {
    /// The names of modules.
    pub names: ExpertNames,
    /// What shares are.
    pub shares: Shares,
    /// The module of the correction of shares, in the mixture.
    pub correction: Option<&'static str>,
    /// The greatest shares that judge a group.
    pub judged: usize,
    /// `first_k_dense_replace`: the layers ahead that have a feed-forward network.
    pub dense: usize,
    /// `routed_scaling_factor`.
    pub scale: f64,
    /// `n_group` and `topk_group`, where the class has groups without a word in the configuration.
    pub groups: [usize; 2],
    /// `norm_topk_prob`.
    pub is_normalized: bool,
    /// The values of `topk_method`.
    pub methods: &'static [&'static str],
}

impl Mixture {
    /// `DeepseekV3Config`.
    pub const DEEPSEEK: Self = Self {
        names: ExpertNames::DEEPSEEK,
        shares: Shares::Sigmoid,
        correction: Some("gate.e_score_correction_bias"),
        judged: 2,
        dense: 3,
        scale: 2.5,
        groups: [8, 4],
        is_normalized: true,
        methods: &["noaux_tc"],
    };
}

/// The width of the network of the experts that every token passes, which have `width` elements each; `None` for no such experts. `usual` is
/// their number in a configuration without the key.
pub fn shared_width(config: &Config, key: &str, usual: usize, width: usize) -> Result<Option<usize>, CheckpointError> {
    let count = config.optional_count(key)?.unwrap_or(usual);
    (count > 0).then(|| config.computed(key, count.checked_mul(width))).transpose()
}

/// The experts of DeepSeek: in all layers but for the first ones, by `n_routed_experts`, beside `n_shared_experts` that every token passes.
pub fn deepseek_experts(decoder: &mut Decoder, config: &Config, mixture: &Mixture) -> Result<Experts, CheckpointError> {
    for (key, usual) in [("moe_layer_freq", 1), ("ep_size", 1)] {
        if config.optional_size(key)?.is_some_and(|size| size != usual) {
            return Err(config.unsupported(key, format!("`{usual}`")));
        }
    }
    let function = mixture.shares.function();
    if config.optional_text("scoring_func")?.is_some_and(|stated| stated != function) {
        return Err(config.unsupported("scoring_func", format!("`{function}`")));
    }
    let method = config.optional_text("topk_method")?;
    if method.is_some_and(|stated| !mixture.methods.contains(&stated.as_str())) {
        return Err(config.unsupported("topk_method", listed(mixture.methods.iter().copied())));
    }
    let dense = config.optional_count("first_k_dense_replace")?.unwrap_or(mixture.dense);
    for (index, layer) in decoder.layers.iter_mut().enumerate() {
        layer.has_experts = index >= dense;
    }
    let width = config.size("moe_intermediate_size")?;
    Ok(Experts {
        count: config.size("n_routed_experts")?,
        chosen: config.size("num_experts_per_tok")?,
        width,
        is_gated: true,
        is_normalized: config.flag_or("norm_topk_prob", mixture.is_normalized)?,
        storage: Storage::Listed,
        names: mixture.names,
        shared: shared_width(config, "n_shared_experts", 0, width)?,
        is_beside_network: false,
        norms: None,
        has_biases: false,
        clamped: None,
        routing: Routing {
            shares: mixture.shares,
            correction: mixture.correction,
            groups: groups(config, mixture)?,
            scale: Some(config.optional_number("routed_scaling_factor")?.unwrap_or(mixture.scale))
                .filter(|scale| *scale != 1.0),
            is_scaled: false,
        },
    })
}

/// The groups of experts, where more than one is there.
fn groups(config: &Config, mixture: &Mixture) -> Result<Option<Groups>, CheckpointError> {
    let [count, chosen] = mixture.groups;
    let count = config.or_default("n_group", Config::optional_size, count)?.unwrap_or(1);
    let chosen = config.or_default("topk_group", Config::optional_size, chosen)?.unwrap_or(count);
    Ok((count != chosen).then_some(Groups { count, chosen, judged: mixture.judged }))
}

//! Nemotron-H: layers that are a state space of Mamba 2, attention, a feed-forward network or a mixture of experts alone.

use serde_json::json;

use super::conventions::{Class, Mixture, listed};
use super::{Family, conventions, mamba, mamba2};
use crate::config::Config;
use crate::{Activation, CheckpointError, Decoder, ExpertNames, Experts, Gate, Mixer, Names, NormPlaces, Scan, Steps};

pub const FAMILY: Family = Family { architectures: &["NemotronHForCausalLM"], keys: mamba::KEYS, describe };

/// `NemotronHConfig`.
const CLASS: Class = Class {
    names: Names { attention: "mixer", network: "mixer", ..mamba::CLASS.names },
    places: NormPlaces { before_network: Some("norm"), ..mamba::CLASS.places },
    tied: false,
    gate: Gate::None,
    activation: Activation::ReluSquared,
    depth: Some(128),
    key_heads: Some(8),
    longest: 4096,
    ..mamba::CLASS
};

const MIXTURE: Mixture = Mixture {
    names: ExpertNames { module: "mixer", ..ExpertNames::DEEPSEEK },
    dense: 0,
    scale: 1.0,
    groups: [1, 1],
    ..Mixture::DEEPSEEK
};

/// Keys about training, about the kernels of other programs, and about layers for the prediction of several tokens.
const WITHOUT_EFFECT: &[&str] = &[
    "attention_bias",
    "chunk_size",
    "expand",
    "mamba_proj_bias",
    "mamba_ssm_cache_dtype",
    "moe_shared_expert_overlap",
    "n_shared_experts",
    "num_logits_to_keep",
    "rescale_prenorm_residual",
    "residual_in_fp32",
    "time_step_floor",
    "time_step_limit",
    "time_step_max",
    "use_mamba_kernels",
];

/// What a layer is: by letter, by name, and by the name in older configurations.
const KINDS: [(char, &[&str]); 4] =
    [('M', &["linear_attention", "mamba"]), ('*', &["full_attention", "attention"]), ('-', &["mlp"]), ('E', &["moe"])];

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    WITHOUT_EFFECT.iter().for_each(|key| _ = config.value(key));
    let kinds = kinds(config)?;
    let config = &config.clone().with_defaults([("num_hidden_layers", json!(kinds.len()))]);
    let mut decoder = conventions::decoder(config, &CLASS)?;
    if decoder.layers.len() != kinds.len() {
        let reason = format!("is {}, and {} layers have a kind", decoder.layers.len(), kinds.len());
        return Err(config.mistake("num_hidden_layers", reason));
    }
    conventions::without_rotary(&mut decoder);
    // `NemotronHForCausalLM` ignores `tie_word_embeddings`: the head is never the embedding.
    decoder.tied = false;
    decoder.feed_forward.activation = conventions::activation(config, "mlp_hidden_act", Activation::ReluSquared)?;
    decoder.feed_forward.biases = config.flag("mlp_bias")?;
    let scan = scan(config, decoder.norm.epsilon)?;
    if kinds.contains(&'E') {
        decoder.experts = Some(experts(&mut decoder, config)?);
    }
    for (layer, kind) in decoder.layers.iter_mut().zip(kinds) {
        layer.mixer = match kind {
            'M' => Mixer::Scan(scan),
            '*' => Mixer::Attention,
            _ => Mixer::None,
        };
        layer.has_network = layer.mixer == Mixer::None;
        layer.has_experts = kind == 'E';
    }
    Ok(decoder)
}

/// The letter of each layer: of a text with all letters, or of a list of names.
fn kinds(config: &Config) -> Result<Vec<char>, CheckpointError> {
    const PATTERN: &str = "hybrid_override_pattern";
    let known = |letter: char| KINDS.iter().any(|(known, _)| *known == letter);
    for key in ["layers_block_type", "layer_types"] {
        let Some(names) = config.optional_texts(key)? else { continue };
        let letter =
            |name: &String| KINDS.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(letter, _)| *letter);
        let letters: Option<Vec<char>> = names.iter().map(letter).collect();
        let _ = config.value(PATTERN);
        let all = || listed(KINDS.iter().flat_map(|(_, names)| names.iter().copied()));
        return letters.ok_or_else(|| config.unsupported(key, all()));
    }
    match config.optional_text(PATTERN)? {
        None => Ok("ME*-".chars().collect()),
        Some(text) if text.chars().all(known) && !text.is_empty() => Ok(text.chars().collect()),
        Some(_) => Err(config.unsupported(PATTERN, "the letters M, *, - and E")),
    }
}

fn scan(config: &Config, epsilon: f64) -> Result<Scan, CheckpointError> {
    let size = |key: &str, default: usize| Ok::<_, CheckpointError>(config.optional_size(key)?.unwrap_or(default));
    let least = config.optional_number("time_step_min")?.unwrap_or(0.001);
    let scan = Scan {
        heads: size("mamba_num_heads", 128)?,
        depth: size("mamba_head_dim", 64)?,
        states: size("ssm_state_size", 128)?,
        groups: size("n_groups", 8)?,
        kernel: size("conv_kernel", 4)?,
        steps: Steps::Direct { norm: Some(epsilon), is_ahead: false },
        activation: conventions::activation(config, "mamba_hidden_act", Activation::Silu)?,
        has_biases: config.flag("use_bias")?,
        has_convolution_biases: config.flag_or("use_conv_bias", true)?,
        stores_rates: false,
        limits: Some([least, f64::INFINITY]),
        scales: None,
        module: "mixer",
    };
    mamba2::check(config, scan)?;
    Ok(scan)
}

fn experts(decoder: &mut Decoder, config: &Config) -> Result<Experts, CheckpointError> {
    const LATENT: &str = "moe_latent_size";
    if config.optional_size(LATENT)?.is_some() {
        return Err(config.unsupported(LATENT, "`null`, since experts read whole tokens"));
    }
    let defaults =
        [("n_routed_experts", json!(8)), ("num_experts_per_tok", json!(2)), ("moe_intermediate_size", json!(7688))];
    let config = &config.clone().with_defaults(defaults);
    let experts = conventions::deepseek_experts(decoder, config, &MIXTURE)?;
    let shared = config.optional_size("moe_shared_expert_intermediate_size")?.unwrap_or(7688);
    Ok(Experts { is_gated: false, shared: Some(shared), ..experts })
}

//! The configuration keys that most families share.

use crate::config::Config;
use crate::{
    Activation, Attention, Biases, CheckpointError, Decoder, FeedForward, HeadNorm, Layer, Norm, NormPlaces, Rotary,
    Scaling,
};

/// The default values of a configuration class of `transformers`, for keys that a configuration lacks. Sizes that tensors
/// depend on have no default here: a configuration without such a key is refused.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// `rope_theta`.
    pub theta: f64,
    /// `rms_norm_eps`.
    pub epsilon: f64,
    /// `max_position_embeddings`.
    pub longest: usize,
    /// `original_max_position_embeddings`, where the class has the key.
    pub original: Option<usize>,
    /// `sliding_window`.
    pub window: Option<usize>,
    /// `num_key_value_heads`; `None` for the number of attention heads.
    pub key_heads: Option<usize>,
    /// `head_dim`; `None` for the width divided by the number of attention heads.
    pub depth: Option<usize>,
    /// `attn_logit_softcapping`.
    pub score_cap: Option<f64>,
    /// `final_logit_softcapping`.
    pub logit_cap: Option<f64>,
}

impl Defaults {
    /// `LlamaConfig`.
    pub const LLAMA: Self = Self {
        theta: 10_000.0,
        epsilon: 1e-6,
        longest: 2048,
        original: None,
        window: None,
        key_heads: None,
        depth: None,
        score_cap: None,
        logit_cap: None,
    };

    /// The base class of the configuration classes of Gemma 2 and 3.
    pub const GEMMA: Self = Self { window: Some(4096), key_heads: Some(4), depth: Some(256), ..Self::LLAMA };
}

/// The attention window of a configuration, if any.
pub fn window(config: &Config, defaults: &Defaults) -> Result<Option<usize>, CheckpointError> {
    config.or_default("sliding_window", Config::optional_tokens, defaults.window)
}

/// A decoder by Llama's configuration: no biases, no windows, normalization ahead of both parts of a layer, one rotary
/// embedding.
pub fn decoder(config: &Config, defaults: &Defaults) -> Result<Decoder, CheckpointError> {
    let (width, attention) = (config.size("hidden_size")?, attention(config, defaults)?);
    let rotary = rotary(config, &rope(config)?, attention.depth, defaults)?;
    let layers = config.size("num_hidden_layers")?;
    Ok(Decoder {
        vocabulary: config.size("vocab_size")?,
        width,
        longest: longest(config, defaults)?,
        embedding_scale: None,
        tied: config.flag("tie_word_embeddings")?,
        layers: vec![Layer { window: None, rotary: Some(0) }; layers],
        rotaries: vec![rotary],
        norm: Norm { epsilon: config.optional_number("rms_norm_eps")?.unwrap_or(defaults.epsilon), less_one: false },
        norm_places: NormPlaces::Before,
        attention,
        feed_forward: FeedForward {
            width: config.size("intermediate_size")?,
            activation: activation(config, "hidden_act")?,
            biases: false,
            fused: false,
        },
        logit_cap: None,
    })
}

fn longest(config: &Config, defaults: &Defaults) -> Result<usize, CheckpointError> {
    Ok(config.optional_tokens("max_position_embeddings")?.unwrap_or(defaults.longest))
}

fn attention(config: &Config, defaults: &Defaults) -> Result<Attention, CheckpointError> {
    let heads = config.size("num_attention_heads")?;
    let depth = match config.or_default("head_dim", Config::optional_size, defaults.depth)? {
        Some(depth) => depth,
        None => config.size("hidden_size")? / heads,
    };
    Ok(Attention {
        heads,
        key_heads: config
            .or_default("num_key_value_heads", Config::optional_size, defaults.key_heads)?
            .unwrap_or(heads),
        depth,
        scale: (depth as f64).powf(-0.5),
        cap: None,
        biases: Biases::None,
        fused: false,
        head_norm: HeadNorm::None,
    })
}

/// The activation of a key; Llama's activation for an absent key.
pub fn activation(config: &Config, key: &str) -> Result<Activation, CheckpointError> {
    match config.optional_text(key)?.as_deref() {
        None | Some("silu" | "swish") => Ok(Activation::Silu),
        Some("gelu") => Ok(Activation::Gelu),
        Some("gelu_pytorch_tanh" | "gelu_new") => Ok(Activation::GeluTanh),
        Some(other) => Err(config.mistake(key, format!("names an unknown activation, `{other}`"))),
    }
}

/// The RoPE configuration: `rope_parameters`, or `rope_scaling` in older configurations, or the configuration.
pub fn rope(config: &Config) -> Result<Config, CheckpointError> {
    for key in ["rope_parameters", "rope_scaling"] {
        if let Some(map) = config.optional_map(key)? {
            return Ok(map);
        }
    }
    Ok(config.clone())
}

/// The rotary embedding of `rope`, for heads of `depth` elements.
pub fn rotary(config: &Config, rope: &Config, depth: usize, defaults: &Defaults) -> Result<Rotary, CheckpointError> {
    let number = |key: &str| Ok::<_, CheckpointError>(rope.optional_number(key)?.or(config.optional_number(key)?));
    let theta = number("rope_theta")?.unwrap_or(defaults.theta);
    let turned = number("partial_rotary_factor")?.unwrap_or(1.0);
    let pairs = (depth as f64 * turned) as usize / 2;
    Ok(Rotary { theta, pairs, scaling: scaling(config, rope, defaults)? })
}

fn scaling(config: &Config, rope: &Config, defaults: &Defaults) -> Result<Scaling, CheckpointError> {
    let kind = match rope.optional_text("rope_type")? {
        Some(kind) => Some(kind),
        None => rope.optional_text("type")?,
    };
    match kind.as_deref() {
        None | Some("default") => Ok(Scaling::None),
        Some("linear") => Ok(Scaling::Linear { factor: rope.number("factor")? }),
        Some("llama3") => Ok(Scaling::ByWavelength {
            factor: rope.number("factor")?,
            high: rope.number("high_freq_factor")?,
            low: rope.number("low_freq_factor")?,
            original: original(config, rope, defaults)? as f64,
        }),
        Some("longrope" | "su") => by_pair(config, rope, defaults),
        Some(other) => Err(rope.mistake("rope_type", format!("is an unknown kind of rotation, `{other}`"))),
    }
}

/// The first context: a key of the configuration, or the default of a class with the key, or a key of `rope`, or the context.
fn original(config: &Config, rope: &Config, defaults: &Defaults) -> Result<usize, CheckpointError> {
    const KEY: &str = "original_max_position_embeddings";
    let own = config.optional_tokens(KEY)?.or(defaults.original).or(rope.optional_tokens(KEY)?);
    own.map_or_else(|| longest(config, defaults), Ok)
}

fn by_pair(config: &Config, rope: &Config, defaults: &Defaults) -> Result<Scaling, CheckpointError> {
    let (longest, original) = (longest(config, defaults)?, original(config, rope, defaults)?);
    let factor = rope.optional_number("factor")?.unwrap_or(longest as f64 / original as f64);
    let computed = if factor > 1.0 { (1.0 + factor.ln() / (original as f64).ln()).sqrt() } else { 1.0 };
    Ok(Scaling::ByPair {
        short: rope.numbers("short_factor")?,
        long: rope.numbers("long_factor")?,
        original,
        magnitude: rope.optional_number("attention_factor")?.unwrap_or(computed),
    })
}

/// Gives the layers attention windows: by `layer_types` or, for an absent key, by `slides`.
pub fn slide(
    decoder: &mut Decoder,
    config: &Config,
    window: Option<usize>,
    slides: impl Fn(usize) -> bool,
) -> Result<(), CheckpointError> {
    let kinds = config.optional_texts("layer_types")?;
    if kinds.as_ref().is_some_and(|kinds| kinds.len() != decoder.layers.len()) {
        return Err(config.mistake("layer_types", "does not name a kind for each layer"));
    }
    for (index, layer) in decoder.layers.iter_mut().enumerate() {
        let local = match kinds.as_ref().and_then(|kinds| kinds.get(index)).map(String::as_str) {
            Some("sliding_attention") => true,
            Some("full_attention") => false,
            Some(other) => return Err(config.mistake("layer_types", format!("has an unknown kind, `{other}`"))),
            None => slides(index),
        };
        layer.window = window.filter(|_| local);
    }
    Ok(())
}

/// The key of encoders among Gemma's models.
const BIDIRECTIONAL: &str = "use_bidirectional_attention";

/// The common part of Gemma's families: four normalizations with weights less one, a scaled embedding that is the output's
/// matrix, and caps.
pub fn gemma(config: &Config, defaults: &Defaults) -> Result<Decoder, CheckpointError> {
    if config.flag(BIDIRECTIONAL)? {
        return Err(config.mistake(BIDIRECTIONAL, "asks for attention to later tokens, which a decoder lacks"));
    }
    let mut decoder = decoder(config, defaults)?;
    let activation = match config.optional_text("hidden_activation")? {
        Some(_) => activation(config, "hidden_activation")?,
        None => Activation::GeluTanh,
    };
    decoder.feed_forward.activation = activation;
    decoder.tied = config.optional_flag("tie_word_embeddings")?.unwrap_or(true);
    decoder.embedding_scale = Some(f64::from((decoder.width as f64).sqrt() as f32));
    decoder.norm.less_one = true;
    decoder.norm_places = NormPlaces::BeforeAndBehind;
    decoder.attention.scale = config.optional_number("query_pre_attn_scalar")?.unwrap_or(256.0).powf(-0.5);
    decoder.attention.cap = config.or_default("attn_logit_softcapping", Config::optional_number, defaults.score_cap)?;
    decoder.attention.biases = if config.flag("attention_bias")? { Biases::All } else { Biases::None };
    decoder.logit_cap = config.or_default("final_logit_softcapping", Config::optional_number, defaults.logit_cap)?;
    Ok(decoder)
}

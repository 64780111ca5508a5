//! The configuration keys that most families share.

mod class;
mod latent;
mod rope;
mod routing;

pub use class::Class;
pub use latent::latent;
pub use rope::{rope, rotary};
pub use routing::{Mixture, deepseek_experts, shared_width};

use crate::config::Config;
use crate::{
    Activation, Attention, Biases, CheckpointError, Decoder, ExpertNames, Experts, FeedForward, HeadNorm, Inputs,
    Layer, LayerInputs, Mixer, Norm, NormPlaces, Rotary, Routing, Scaling, Storage,
};

/// The attention window of a configuration, if any.
pub fn window(config: &Config, class: &Class) -> Result<Option<usize>, CheckpointError> {
    config.or_default("sliding_window", Config::optional_tokens, class.window)
}

/// The window of a family whose models state a window that they do not use, unless `use_sliding_window` says so.
pub fn switched_window(config: &Config, class: &Class) -> Result<Option<usize>, CheckpointError> {
    if config.flag("use_sliding_window")? {
        return window(config, class);
    }
    // Without a use, the key is read all the same, whatever its value.
    let _ = config.value("sliding_window");
    Ok(None)
}

/// A decoder by Llama's keys: the parts that the class states, no biases, no windows, one rotary embedding.
pub fn decoder(config: &Config, class: &Class) -> Result<Decoder, CheckpointError> {
    let (width, attention) = (config.size("hidden_size")?, attention(config, class)?);
    let rotary = rotary(config, &rope(config)?, attention.depth, class)?;
    let layers = config.size("num_hidden_layers")?;
    let epsilon = config.optional_number("rms_norm_eps")?.unwrap_or(class.norm.epsilon);
    Ok(Decoder {
        vocabulary: config.size("vocab_size")?,
        width,
        longest: longest(config, class)?,
        names: class.names,
        embedding_scale: None,
        embedding_norm: false,
        positions: None,
        tied: config.flag_or("tie_word_embeddings", class.tied)?,
        head_bias: false,
        transposed: false,
        layers: vec![
            Layer {
                mixer: Mixer::Attention,
                is_global: false,
                window: None,
                shared_cache: None,
                rotary: Some(0),
                has_network: true,
                has_experts: false,
                network: None,
            };
            layers
        ],
        rotaries: vec![rotary],
        norm: Norm { epsilon, ..class.norm },
        norm_places: class.places,
        residual_scale: None,
        has_layer_scales: false,
        layer_inputs: None,
        streams: None,
        attention,
        global_attention: None,
        feed_forward: FeedForward {
            width: network_width(config, class, width)?,
            activation: activation(config, "hidden_act", class.activation)?,
            biases: false,
            gate: class.gate,
            scales: None,
            cutoff: None,
        },
        experts: None,
        logit_scale: None,
        logit_cap: None,
        cross: None,
        source: None,
        vision: None,
        hearing: None,
        is_for_texts: false,
    })
}

/// The elements between the projections of a network.
fn network_width(config: &Config, class: &Class, width: usize) -> Result<usize, CheckpointError> {
    const KEY: &str = "intermediate_size";
    match (config.optional_size(KEY)?, class.expansion) {
        (Some(size), _) => Ok(size),
        (None, Some(expansion)) => Ok(expansion * width),
        (None, None) => config.size(KEY),
    }
}

/// The context of a configuration.
pub fn longest(config: &Config, class: &Class) -> Result<usize, CheckpointError> {
    Ok(config.optional_tokens("max_position_embeddings")?.unwrap_or(class.longest))
}

fn attention(config: &Config, class: &Class) -> Result<Attention, CheckpointError> {
    let heads = config.size("num_attention_heads")?;
    let depth = match config.or_default("head_dim", Config::optional_size, class.depth)? {
        Some(depth) => depth,
        None => config.size("hidden_size")? / heads,
    };
    Ok(Attention {
        heads,
        key_heads: config.or_default("num_key_value_heads", Config::optional_size, class.key_heads)?.unwrap_or(heads),
        depth,
        scale: (depth as f64).powf(-0.5),
        cap: None,
        has_slopes: false,
        relative: None,
        has_sinks: false,
        temperature: None,
        clip: None,
        biases: Biases::NONE,
        is_gated: false,
        has_key_bias: true,
        inputs: Inputs::Separate,
        head_norm: HeadNorm::None,
        values_are_keys: false,
        norms_values: false,
        latent: None,
    })
}

/// The names of activations in configurations.
const ACTIVATIONS: &[(&str, Activation)] = &[
    ("silu", Activation::Silu),
    ("swish", Activation::Silu),
    ("gelu", Activation::Gelu),
    ("gelu_python", Activation::Gelu),
    ("gelu_pytorch_tanh", Activation::GeluTanh),
    ("gelu_new", Activation::GeluTanh),
    ("gelu_fast", Activation::GeluTanh),
    ("gelu_python_tanh", Activation::GeluTanh),
    ("gelu_accurate", Activation::GeluTanh),
    ("quick_gelu", Activation::QuickGelu),
    ("relu", Activation::Relu),
    ("relu2", Activation::ReluSquared),
];

/// The activation of a key; the default of the class for an absent key.
pub fn activation(config: &Config, key: &str, default: Activation) -> Result<Activation, CheckpointError> {
    let Some(name) = config.optional_text(key)? else { return Ok(default) };
    let found = ACTIVATIONS.iter().find(|(known, _)| *known == name).map(|(_, activation)| *activation);
    found.ok_or_else(|| config.unsupported(key, listed(ACTIVATIONS.iter().map(|(known, _)| *known))))
}

/// Names for a message.
pub fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<String>>().join(", ")
}

/// Biases of all of attention's projections by `attention_bias`, and of the network's by `mlp_bias`.
pub fn biases(decoder: &mut Decoder, config: &Config, attention: bool) -> Result<(), CheckpointError> {
    decoder.attention.biases = Biases::all(config.flag_or("attention_bias", attention)?);
    decoder.feed_forward.biases = config.flag("mlp_bias")?;
    Ok(())
}

/// The kinds of the layers by `layer_types`, if present: the index of each among the kinds of the family.
pub fn kinds_of(config: &Config, layers: usize, known: &[&str]) -> Result<Option<Vec<usize>>, CheckpointError> {
    const KEY: &str = "layer_types";
    let Some(kinds) = config.optional_texts(KEY)? else { return Ok(None) };
    if kinds.len() != layers {
        return Err(config.mistake(KEY, "does not name a kind for each layer"));
    }
    let index = |kind: &String| known.iter().position(|known| known == kind);
    let indices: Option<Vec<usize>> = kinds.iter().map(index).collect();
    indices.map(Some).ok_or_else(|| config.unsupported(KEY, listed(known.iter().copied())))
}

/// The kinds of the layers by `layer_types`, if present: whether each sees a window.
fn kinds(config: &Config, layers: usize) -> Result<Option<Vec<bool>>, CheckpointError> {
    let kinds = kinds_of(config, layers, &["sliding_attention", "full_attention"])?;
    Ok(kinds.map(|kinds| kinds.into_iter().map(|kind| kind == 0).collect()))
}

/// Gives the layers attention windows: by `layer_types` or, for an absent key, by `slides`. Returns whether each layer is of the kind
/// that sees a window.
pub fn slide(
    decoder: &mut Decoder,
    config: &Config,
    window: Option<usize>,
    slides: impl Fn(usize) -> bool,
) -> Result<Vec<bool>, CheckpointError> {
    let kinds = kinds(config, decoder.layers.len())?;
    let kinds = kinds.unwrap_or_else(|| (0..decoder.layers.len()).map(slides).collect());
    for (layer, local) in decoder.layers.iter_mut().zip(&kinds) {
        layer.window = window.filter(|_| *local);
    }
    Ok(kinds)
}

/// Gives layers with global attention the rotary embedding of the first class, for heads of so many elements, and layers with local attention
/// that of the second: by `full_attention` and `sliding_attention` among the parameters. Without the latter, the local base is the value of `key`.
pub fn rotate_by_kind(
    decoder: &mut Decoder,
    config: &Config,
    [(global, global_depth), (local, depth)]: [(&Class, usize); 2],
    key: &str,
    is_local: &[bool],
) -> Result<(), CheckpointError> {
    let rope = rope(config)?;
    let of_global = rope.optional_map("full_attention")?.unwrap_or_else(|| rope.clone());
    let of_local = match rope.optional_map("sliding_attention")? {
        Some(parameters) => rotary(config, &parameters, depth, local)?,
        None => {
            let theta = config.optional_number(key)?.unwrap_or(local.theta);
            let (pairs, is_interleaved) = (depth / 2, local.is_interleaved);
            Rotary { theta, pairs, is_interleaved, sections: None, scaling: Scaling::None }
        }
    };
    decoder.rotaries = vec![rotary(config, &of_global, global_depth, global)?, of_local];
    for (layer, local) in decoder.layers.iter_mut().zip(is_local) {
        layer.rotary = Some(usize::from(*local));
    }
    Ok(())
}

/// Gives each layer experts of `width` elements between the projections: `num_experts`, in some configurations `num_local_experts`, of
/// which a token passes `num_experts_per_tok`. The shares are divided by their sum.
pub fn experts(
    decoder: &mut Decoder,
    config: &Config,
    width: usize,
    [count, chosen]: [usize; 2],
) -> Result<Experts, CheckpointError> {
    decoder.layers.iter_mut().for_each(|layer| layer.has_experts = true);
    let named = config.optional_size("num_experts")?.or(config.optional_size("num_local_experts")?);
    Ok(Experts {
        count: named.unwrap_or(count),
        chosen: config.optional_size("num_experts_per_tok")?.unwrap_or(chosen),
        width,
        is_gated: true,
        is_normalized: true,
        storage: Storage::Listed,
        names: ExpertNames::QWEN,
        shared: None,
        is_beside_network: false,
        norms: None,
        has_biases: false,
        clamped: None,
        routing: Routing::PLAIN,
    })
}

/// Lets the last `num_kv_shared_layers` layers read the KV cache of the last layer of the same kind among the others.
pub fn share_caches(decoder: &mut Decoder, config: &Config, default: usize) -> Result<(), CheckpointError> {
    const KEY: &str = "num_kv_shared_layers";
    let shared = config.optional_count(KEY)?.unwrap_or(default);
    let Some(first) = decoder.layers.len().checked_sub(shared).filter(|first| *first > 0) else {
        return Err(config.mistake(KEY, format!("is {shared}, of {} layers", decoder.layers.len())));
    };
    let (own, readers) = decoder.layers.split_at_mut(first);
    for layer in readers {
        let source = own.iter().rposition(|other| other.is_global == layer.is_global);
        layer.shared_cache =
            Some(source.ok_or_else(|| config.mistake(KEY, "leaves no layer of a kind with a KV cache"))?);
    }
    Ok(())
}

/// Embeddings of tokens for each layer, of `default` elements where the configuration says nothing; 0 for none.
pub fn layer_inputs(config: &Config) -> Result<Option<LayerInputs>, CheckpointError> {
    let width = config.optional_count("hidden_size_per_layer_input")?.unwrap_or(256);
    let vocabulary = config.optional_size("vocab_size_per_layer_input")?.unwrap_or(262_144);
    let padding =
        config.value("pad_token_id").and_then(serde_json::Value::as_u64).and_then(|token| u32::try_from(token).ok());
    Ok((width > 0).then_some(LayerInputs { vocabulary, width, padding: padding.unwrap_or(0) }))
}

/// Takes the rotary embedding from layers without the flag.
pub fn rotate_only(decoder: &mut Decoder, rotates: &[bool]) {
    for (layer, rotates) in decoder.layers.iter_mut().zip(rotates) {
        layer.rotary = layer.rotary.filter(|_| *rotates);
    }
}

/// Takes the rotary embedding from every layer.
pub fn without_rotary(decoder: &mut Decoder) {
    decoder.layers.iter_mut().for_each(|layer| layer.rotary = None);
    decoder.rotaries.clear();
}

/// The key of encoders among Gemma's models.
const BIDIRECTIONAL: &str = "use_bidirectional_attention";

/// The common part of Gemma's families: norms with weights less one, and a scaled embedding that is the output's matrix.
pub fn gemma(config: &Config, class: &Class) -> Result<Decoder, CheckpointError> {
    if config.flag(BIDIRECTIONAL)? {
        return Err(config.unsupported(BIDIRECTIONAL, "`false`, since a decoder sees no later tokens"));
    }
    scaled_gemma(config, class)
}

/// A decoder with a scaled embedding, and `attention_bias`.
fn scaled_gemma(config: &Config, class: &Class) -> Result<Decoder, CheckpointError> {
    let mut decoder = decoder(config, class)?;
    decoder.embedding_scale = Some(f64::from((decoder.width as f64).sqrt() as f32));
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    Ok(decoder)
}

/// The common part of Gemma 3n and 4: normalized queries, keys and values whose scores have no factor, a cap, and windows by `layer_types` or, for
/// an absent key, in all but every `period`th layer. Returns whether each layer is of the kind that sees a window.
pub fn small_gemma(config: &Config, class: &Class, period: usize) -> Result<(Decoder, Vec<bool>), CheckpointError> {
    if config.optional_text(BIDIRECTIONAL)?.is_some_and(|kind| kind == "all") {
        return Err(config.unsupported(BIDIRECTIONAL, "`vision`, since a decoder sees no later tokens"));
    }
    let mut decoder = scaled_gemma(config, class)?;
    decoder.norm_places = NormPlaces::AROUND;
    decoder.logit_cap = config.or_default("final_logit_softcapping", Config::optional_number, class.logit_cap)?;
    decoder.attention = Attention { scale: 1.0, head_norm: HeadNorm::Each, norms_values: true, ..decoder.attention };
    let window = window(config, class)?;
    let local = slide(&mut decoder, config, window, |index| (index + 1) % period != 0)?;
    decoder.layers.iter_mut().zip(&local).for_each(|(layer, local)| layer.is_global = !local);
    Ok((decoder, local))
}

/// The common part of Gemma 2 and 3: four normalizations in a layer, a scale of their own, and caps.
pub fn capped_gemma(config: &Config, class: &Class) -> Result<Decoder, CheckpointError> {
    let mut decoder = gemma(config, class)?;
    decoder.norm_places = NormPlaces::AROUND;
    decoder.attention.scale = config.optional_number("query_pre_attn_scalar")?.unwrap_or(256.0).powf(-0.5);
    decoder.attention.cap = config.or_default("attn_logit_softcapping", Config::optional_number, class.score_cap)?;
    decoder.logit_cap = config.or_default("final_logit_softcapping", Config::optional_number, class.logit_cap)?;
    Ok(decoder)
}

//! The configuration of a GGUF file in the form of `config.json`, which the families read.

use serde_json::{Map, Value, json};

use super::Gguf;
use crate::{CheckpointError, family};

/// The keys of GGUF, behind the architecture, and the common keys of `config.json`.
const KEYS: &[(&str, &str)] = &[
    ("embedding_length", "hidden_size"),
    ("block_count", "num_hidden_layers"),
    ("attention.head_count", "num_attention_heads"),
    ("attention.head_count_kv", "num_key_value_heads"),
    ("feed_forward_length", "intermediate_size"),
    ("context_length", "max_position_embeddings"),
    ("attention.layer_norm_epsilon", "rms_norm_eps"),
    ("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
    ("expert_count", "num_experts"),
    ("expert_used_count", "num_experts_per_tok"),
    ("attention.sliding_window", "sliding_window"),
    ("attention.clamp_kqv", "clip_qkv"),
];

/// More layers than any model has.
const MOST_LAYERS: u64 = 1 << 12;

/// The keys of YaRN.
const YARN: &[(&str, &str)] = &[
    ("rope.scaling.yarn_attn_factor", "attention_factor"),
    ("rope.scaling.yarn_beta_fast", "beta_fast"),
    ("rope.scaling.yarn_beta_slow", "beta_slow"),
];

/// The configuration.
///
/// # Errors
/// Sizes that the file lacks; values that are not supported.
pub fn config(file: &Gguf<'_>) -> Result<Map<String, Value>, CheckpointError> {
    let mut config = Map::new();
    // No window, unless the file states one.
    config.insert("sliding_window".to_owned(), Value::Null);
    for (from, to) in KEYS {
        let is_common = !file.architecture.by_layer.contains(from);
        if let Some(value) = file.value(from).filter(|value| is_common || !value.is_array()) {
            config.insert((*to).to_owned(), same(file, from, value)?);
        }
    }
    if config.get("sliding_window") == Some(&json!(0)) {
        config.insert("sliding_window".to_owned(), Value::Null);
    }
    if config.get("num_experts") == Some(&json!(0)) {
        config.remove("num_experts");
    }
    config.insert("vocab_size".to_owned(), file.vocabulary()?.into());
    config.insert("head_dim".to_owned(), depth(file)?.into());
    config.insert("tie_word_embeddings".to_owned(), (!file.has("output.weight")).into());
    config.insert("rope_parameters".to_owned(), rope(file)?);
    rotated(file, &mut config);
    layer_kinds(file, &mut config)?;
    (file.architecture.own)(file, &mut config);
    if let (Some(layers), Some(later)) = (file.count("block_count"), file.count("nextn_predict_layers")) {
        config.insert("num_hidden_layers".to_owned(), layers.saturating_sub(later).into());
    }
    let class = match &file.architecture {
        of if of.sigmoid != of.class && file.chooses_by_sigmoid() => of.sigmoid,
        of if config.contains_key("num_experts") => of.mixture,
        of if file.has_window() => of.windowed,
        of => of.class,
    };
    config.insert("architectures".to_owned(), json!([class]));
    let keys = family::find(class).map_or(&[][..], |family| family.keys);
    Ok(config.into_iter().map(|(key, value)| (own_key(keys, key), value)).collect())
}

/// The family's key for a common key.
fn own_key(keys: &[(&str, &str)], key: String) -> String {
    keys.iter().find(|(common, _)| *common == key).map_or(key, |(_, own)| (*own).to_owned())
}

/// A value, or the value that a list has for every layer.
fn same(file: &Gguf<'_>, key: &str, value: &Value) -> Result<Value, CheckpointError> {
    let Some(list) = value.as_array() else { return Ok(value.clone()) };
    match list.first().filter(|first| list.iter().all(|other| other == *first)) {
        Some(first) => Ok(first.clone()),
        None => Err(file.unsupported(key, "the same number for every layer")),
    }
}

/// The elements of a head, for queries, keys and values.
fn depth(file: &Gguf<'_>) -> Result<u64, CheckpointError> {
    let (depth, has_latents) = (file.depth(), file.value("attention.kv_lora_rank").is_some());
    match file.count("attention.value_length") {
        Some(values) if values != depth && !has_latents => {
            Err(file.unsupported("attention.value_length", format!("`{depth}`, as for keys")))
        }
        _ => Ok(depth),
    }
}

/// The share of a head that is rotated, where the file states another than the whole. The share is of a number between two counts, so
/// that rounding changes no count.
fn rotated(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let (depth, rotated) = (file.depth(), file.count("rope.dimension_count"));
    if let Some(count) = rotated.filter(|count| *count != depth) {
        let share = (count as f64 + 0.25) / depth.max(1) as f64;
        config.insert("partial_rotary_factor".to_owned(), share.into());
    } else {
        config.insert("partial_rotary_factor".to_owned(), 1.0.into());
    }
}

/// The layers with a window, where the file names each, or says how many layers are a period, of which the last has no window.
fn layer_kinds(file: &Gguf<'_>, config: &mut Map<String, Value>) -> Result<(), CheckpointError> {
    const KEY: &str = "attention.sliding_window_pattern";
    let kind = |slides: bool| if slides { "sliding_attention" } else { "full_attention" };
    let layers = file.count("block_count").unwrap_or(0).min(MOST_LAYERS);
    let kinds: Vec<&str> = match (file.value(KEY), file.count(KEY)) {
        (None, _) => return Ok(()),
        (Some(Value::Array(pattern)), _) => {
            pattern.iter().map(|slides| kind(slides.as_bool().unwrap_or_else(|| slides.as_u64() == Some(1)))).collect()
        }
        (_, Some(0)) => vec![kind(true); layers as usize],
        (_, Some(period)) => (0..layers).map(|layer| kind(layer % period + 1 < period)).collect(),
        _ => return Err(file.unsupported(KEY, "a flag for each layer, or a number of layers")),
    };
    config.insert("layer_types".to_owned(), kinds.into());
    Ok(())
}

/// The parameters of rotary position embedding. Factors of each pair are tensors.
fn rope(file: &Gguf<'_>) -> Result<Value, CheckpointError> {
    let mut rope = Map::new();
    let theta = file.value("rope.freq_base").cloned().unwrap_or_else(|| 10_000.into());
    rope.insert("rope_theta".to_owned(), theta);
    let original = file.value("rope.scaling.original_context_length").or_else(|| file.value("context_length"));
    rope.extend(original.map(|tokens| ("original_max_position_embeddings".to_owned(), tokens.clone())));
    let factor = file.value("rope.scaling.factor").or_else(|| file.value("rope.scale_linear"));
    let attention = || Some(("attention_factor".to_owned(), file.value("rope.scaling.attn_factor")?.clone()));
    let tensor = |name: &str| file.numbers(name);
    let kind =
        match (tensor("rope_freqs.weight")?, tensor("rope_factors_short.weight")?, tensor("rope_factors_long.weight")?)
        {
            (Some(factors), ..) => {
                rope.insert("attention_factor".to_owned(), 1.0.into());
                rope.insert("short_factor".to_owned(), factors.clone());
                rope.insert("long_factor".to_owned(), factors);
                "longrope"
            }
            (None, Some(short), Some(long)) => {
                rope.extend(attention());
                rope.insert("short_factor".to_owned(), short);
                rope.insert("long_factor".to_owned(), long);
                "longrope"
            }
            _ => match (file.value("rope.scaling.type").and_then(Value::as_str), factor) {
                (Some("none"), _) | (None, None) => "default",
                (Some("linear") | None, Some(factor)) => {
                    rope.insert("factor".to_owned(), factor.clone());
                    "linear"
                }
                (Some("yarn"), Some(factor)) => {
                    rope.insert("factor".to_owned(), factor.clone());
                    rope.extend(attention());
                    rope.extend(
                        YARN.iter().filter_map(|(from, to)| Some(((*to).to_owned(), file.value(from)?.clone()))),
                    );
                    "yarn"
                }
                // A scaling without a factor, or with factors in tensors that the file lacks.
                (Some(_), _) => {
                    return Err(
                        file.unsupported("rope.scaling.type", "`none`, `linear`, `yarn`, and `longrope` with factors")
                    );
                }
            },
        };
    rope.insert("rope_type".to_owned(), kind.into());
    Ok(Value::Object(rope))
}

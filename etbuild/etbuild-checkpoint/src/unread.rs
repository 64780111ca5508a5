//! The keys of a configuration that nothing reads. Such a key may state a computation that the program lacks.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::config::Config;
use crate::{CheckpointError, family, quantized};

/// Keys without an effect on what a model computes in inference, and keys that other readers than a family have.
const WITHOUT_EFFECT: &[&str] = &[
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_name_or_path",
    "architectures",
    "attention_dropout",
    "attn_pdrop",
    "auto_map",
    "aux_loss_alpha",
    "bos_token_id",
    "cache_implementation",
    "decoder_start_token_id",
    "dropout",
    "dtype",
    "embd_pdrop",
    "eos_token_id",
    "hidden_dropout",
    "id2label",
    "initializer_factor",
    "initializer_range",
    "input_jitter_noise",
    "is_decoder",
    "is_encoder_decoder",
    "keys_to_ignore_at_inference",
    "label2id",
    "max_window_layers",
    "model_type",
    "num_nextn_predict_layers",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "pad_token_id",
    "pretraining_tp",
    "quantization_config",
    "resid_pdrop",
    "return_dict",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "seq_aux",
    "tokenizer_class",
    "torch_dtype",
    "torchscript",
    "transformers.js_config",
    "transformers_version",
    "unsloth_fixed",
    "unsloth_version",
    "use_bfloat16",
    "use_cache",
    "use_sliding_window",
];
/// Beginnings of such keys.
const GROUPS: &[&str] = &["summary_", "task_specific_"];

/// The maps of rotary position embedding.
const ROPE: [&str; 2] = ["rope_parameters", "rope_scaling"];
/// Keys of these maps that repeat the value of another key, or that belong to another kind of scaling.
const OF_ROPE: &[&str] = &[
    "finetuned",
    "max_position_embeddings",
    "mscale",
    "mscale_all_dim",
    "original_max_position_embeddings",
    "rope_type",
    "type",
];

/// The keys that the description of a decoder did not ask for, dotted for those of rotary position embedding.
///
/// # Errors
/// A configuration without a family, or that the family refuses.
pub fn of_family(bytes: &[u8]) -> Result<Vec<String>, CheckpointError> {
    let config = Config::parse(bytes)?;
    quantized::method(&config)?;
    let Some(family) = family::find(&config.architecture()?) else { return Ok(Vec::new()) };
    let decoder = (family.describe)(&config.clone().with_keys(family.keys))?;
    // Towers and text encoders have readers of their own.
    let has_encoder = decoder.vision.is_some() || decoder.hearing.is_some() || decoder.source.is_some();
    let is_alone = !has_encoder && !decoder.is_for_texts;
    Ok(if is_alone { left(&config) } else { Vec::new() })
}

/// The keys of a model without a family that no family at all asks for.
pub fn of_none(config: &Config) -> Vec<String> {
    for family in family::FAMILIES {
        // What a family refuses is no news here.
        let _ = (family.describe)(&config.clone().with_keys(family.keys));
    }
    let known = ["attention", "conv", "full_attention", "linear_attention", "mamba", "sliding_attention"];
    let kinds: BTreeSet<&str> = config
        .value("layer_types")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|kind| !known.contains(kind))
        .collect();
    left(config).into_iter().chain(kinds.into_iter().map(|kind| format!("layer_types: {kind}"))).collect()
}

fn left(config: &Config) -> Vec<String> {
    let has_effect = |key: &&str| {
        !WITHOUT_EFFECT.contains(key)
            && !GROUPS.iter().any(|start| key.starts_with(start))
            && !key.ends_with("_token_id")
    };
    let mut keys: Vec<String> =
        config.telling().filter(|key| has_effect(key) && !config.was_asked(key)).map(str::to_owned).collect();
    for map in ROPE {
        // A key of another type is a mistake that the description has told.
        let Ok(Some(rope)) = config.optional_map(map) else { continue };
        let unread = rope.telling().filter(|key| !OF_ROPE.contains(key) && !rope.was_asked(key));
        keys.extend(unread.map(|key| format!("{map}.{key}")));
    }
    keys
}

//! The keys of the architecture that nothing reads.
//!
//! A converter states what a model computes under keys of the architecture, and new models get new keys: one that is not known is an
//! error, since the model would compute something else without it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::value::Metadata;

/// Keys without an effect on what is computed: sizes that tensors state, and remarks.
const WITHOUT_EFFECT: &[&str] = &[
    "expert_feed_forward_length",
    "expert_shared_feed_forward_length",
    "expert_shared_count",
    "interleave_moe_layer_step",
    "rope.scaling.finetuned",
    "tensor_data_layout",
    "vocab_size",
];

/// Keys whose values mean that nothing is different: 0 and 1 stand for false and true also.
const AT_REST: &[(&str, f64)] = &[
    ("attention.causal", 1.0),
    ("attention.max_alibi_bias", 0.0),
    ("attention.output_scale", 1.0),
    ("attention.shared_kv_layers", 0.0),
    ("expert_gating_func", 1.0),
    ("expert_group_count", 1.0),
    ("expert_group_used_count", 1.0),
    ("expert_weights_scale", 1.0),
    ("leading_dense_block_count", 0.0),
    ("nextn_predict_layers", 0.0),
    ("pooling_type", 0.0),
    ("rope.scaling.attn_factor", 1.0),
    ("rope.scaling.yarn_ext_factor", 1.0),
    ("swin_norm", 0.0),
];

/// The keys of an architecture that nothing has asked for and whose values mean something, each with what is supported.
pub fn of<'m>(
    architecture: &'m str,
    metadata: &'m Metadata,
    asked: &'m BTreeSet<String>,
) -> impl Iterator<Item = (&'m str, String)> {
    let keys = metadata.keys().filter_map(move |key| Some((key, key.strip_prefix(architecture)?.strip_prefix('.')?)));
    let unread = keys.filter(|(_, key)| !asked.contains(*key) && !WITHOUT_EFFECT.contains(key));
    unread.filter_map(move |(whole, key)| Some((key, mistake(architecture, key, metadata.get(whole)?)?)))
}

/// What is supported, where the value of a key is something else.
fn mistake(architecture: &str, key: &str, value: &Value) -> Option<String> {
    let number = value.as_f64().or_else(|| value.as_bool().map(|flag| if flag { 1.0 } else { 0.0 }));
    let rest = AT_REST.iter().find(|(known, _)| *known == key).map(|(_, rest)| *rest);
    let is_at_rest = number == Some(rest.unwrap_or(0.0));
    let supported = rest.map_or_else(|| format!("no such key of `{architecture}`"), |rest| format!("`{rest}`"));
    (!is_at_rest).then_some(supported)
}

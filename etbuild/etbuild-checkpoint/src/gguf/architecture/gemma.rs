//! The keys of Gemma.

use serde_json::{Map, Value, json};

use super::{KEY_HEADS, NETWORKS, copy, rotate_by_kind};
use crate::gguf::Gguf;

/// Caps, and a factor of the scores that files do not state: that of a head's depth, but for the largest model of each generation.
pub fn gemma(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let caps =
        [("attn_logit_softcapping", "attn_logit_softcapping"), ("final_logit_softcapping", "final_logit_softcapping")];
    copy(file, config, &caps);
    let is_largest =
        matches!((file.architecture.name, file.count("block_count")), ("gemma2", Some(46)) | ("gemma3", Some(62)));
    let depth = if is_largest { file.width() / file.heads().max(1) } else { file.depth() };
    config.insert("query_pre_attn_scalar".to_owned(), depth.into());
    config.insert("hidden_activation".to_owned(), "gelu_pytorch_tanh".into());
}

/// Layers with a window turn by a base of their own, without the scaling of the others.
pub fn gemma3(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    gemma(file, config);
    rotate_by_kind(file, config, 10_000.into());
}

/// Four streams, and what Gemma 4 has too.
pub fn gemma3n(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let keys = [
        ("altup.active_idx", "altup_active_idx"),
        ("altup.num_inputs", "altup_num_inputs"),
        ("activation_sparsity_scale", "activation_sparsity_scale"),
        (NETWORKS, "intermediate_size"),
    ];
    copy(file, config, &keys);
    config.insert("laurel_rank".to_owned(), file.rows("blk.0.laurel_l.weight").into());
    shared(file, config);
}

/// Heads of their own in layers with global attention, networks of twice the width, experts.
pub fn gemma4(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    shared(file, config);
    copy(file, config, &[("expert_feed_forward_length", "moe_intermediate_size")]);
    config.insert("enable_moe_block".to_owned(), config.contains_key("num_experts").into());
    let kinds = config.get("layer_types").and_then(Value::as_array).cloned().unwrap_or_default();
    let first = |kind: &str| kinds.iter().position(|known| known == kind);
    let [local, global] = ["sliding_attention", "full_attention"].map(first);
    if let (Some(depth), Some(_)) = (file.count("attention.key_length_swa"), local) {
        config.insert("head_dim".to_owned(), depth.into());
    }
    let heads = |layer: Option<usize>| match file.value(KEY_HEADS) {
        Some(Value::Array(all)) => all.get(layer?).cloned(),
        other => other.cloned(),
    };
    config.extend(heads(local.or(global)).map(|heads| ("num_key_value_heads".to_owned(), heads)));
    if let Some(layer) = global {
        let own = json!({"head_dim": file.depth(), "num_key_value_heads": heads(global)});
        config.insert("per_layer_config".to_owned(), json!({layer.to_string(): own}));
        let projects_values = file.has(&format!("blk.{layer}.attn_v.weight"));
        config.insert("attention_k_eq_v".to_owned(), (!projects_values).into());
    }
    if let Some(Value::Array(widths)) = file.value(NETWORKS) {
        config.extend(widths.first().map(|width| ("intermediate_size".to_owned(), width.clone())));
        config.insert("use_double_wide_mlp".to_owned(), (widths.first() != widths.last()).into());
    }
    // Sizes that follow from others.
    for key in ["attention.value_length_swa", "rope.dimension_count_swa"] {
        let _ = file.value(key);
    }
}

/// KV caches that layers share, embeddings for each layer, and rotary embeddings by kind.
fn shared(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let keys = [
        ("attention.shared_kv_layers", "num_kv_shared_layers"),
        ("embedding_length_per_layer_input", "hidden_size_per_layer_input"),
        ("final_logit_softcapping", "final_logit_softcapping"),
    ];
    copy(file, config, &keys);
    let rows = file.rows("per_layer_token_embd.weight");
    if rows > 0 {
        config.insert("vocab_size_per_layer_input".to_owned(), rows.into());
    }
    config.insert("hidden_activation".to_owned(), "gelu_pytorch_tanh".into());
    rotate_by_kind(file, config, 10_000.into());
}

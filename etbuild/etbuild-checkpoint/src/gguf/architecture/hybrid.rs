//! The keys of models whose layers do not all attend.

use serde_json::{Map, Value};

use super::{KEY_HEADS, NETWORKS, copy};
use crate::gguf::Gguf;

/// Linear attention of Qwen3-Next and Qwen 3.5.
pub fn qwen(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let keys = [
        ("ssm.conv_kernel", "linear_conv_kernel_dim"),
        ("ssm.state_size", "linear_key_head_dim"),
        ("ssm.group_count", "linear_num_key_heads"),
        ("ssm.time_step_rank", "linear_num_value_heads"),
        ("full_attention_interval", "full_attention_interval"),
        ("expert_feed_forward_length", "moe_intermediate_size"),
        ("expert_shared_feed_forward_length", "shared_expert_intermediate_size"),
    ];
    copy(file, config, &keys);
    let heads = file.count("ssm.time_step_rank").unwrap_or(1).max(1);
    config.insert("linear_value_head_dim".to_owned(), (file.count("ssm.inner_size").unwrap_or(0) / heads).into());
    sections(file, config);
}

/// The pairs that turn by time, row and column. What encoders of pictures add to the first layers, texts lack.
pub fn sections(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let _ = file.value("n_deepstack_layers");
    let sections = file.value("rope.dimension_sections").and_then(Value::as_array);
    if let (Some(sections), Some(Value::Object(rope))) = (sections, config.get_mut("rope_parameters")) {
        // The last number is that of a fourth axis, which no model has.
        rope.insert("mrope_section".to_owned(), sections.iter().take(3).cloned().collect());
    }
}

/// Experts of Qwen 3 with such pairs.
pub fn qwen_moe(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    super::qwen_moe(file, config);
    sections(file, config);
}

/// Layers without heads of keys are convolutions.
pub fn lfm2(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let keys = [
        ("shortconv.l_cache", "conv_L_cache"),
        ("expert_feed_forward_length", "moe_intermediate_size"),
        ("leading_dense_block_count", "num_dense_layers"),
    ];
    copy(file, config, &keys);
    config.insert("block_auto_adjust_ff_dim".to_owned(), false.into());
    if let Some(Value::Array(heads)) = file.value(KEY_HEADS) {
        kinds(heads, config, ["full_attention", "conv"]);
    }
}

/// The kinds of layers with heads of keys and without, and the heads of the first layer that has some.
fn kinds(heads: &[Value], config: &mut Map<String, Value>, [attending, other]: [&str; 2]) {
    let attends = |heads: &Value| heads.as_u64() != Some(0);
    let kind = |heads: &Value| if attends(heads) { attending } else { other };
    config.insert("layer_types".to_owned(), heads.iter().map(kind).collect());
    let first = heads.iter().find(|heads| attends(heads));
    config.extend(first.map(|heads| ("num_key_value_heads".to_owned(), heads.clone())));
}

/// Granite 4: layers without heads of keys are state spaces.
pub fn granite(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    super::granite(file, config);
    let keys = [
        ("ssm.conv_kernel", "mamba_d_conv"),
        ("ssm.state_size", "mamba_d_state"),
        ("ssm.group_count", "mamba_n_groups"),
        ("ssm.time_step_rank", "mamba_n_heads"),
        ("ssm.inner_size", "mamba_d_ssm"),
        ("feed_forward_length", "shared_intermediate_size"),
        ("expert_shared_feed_forward_length", "shared_intermediate_size"),
    ];
    copy(file, config, &keys);
    config.insert("num_local_experts".to_owned(), file.value("expert_count").cloned().unwrap_or_else(|| 0.into()));
    let rotates = file.value("rope.scaling.finetuned").and_then(Value::as_bool).unwrap_or(false);
    config.insert("position_embedding_type".to_owned(), if rotates { "rope" } else { "nope" }.into());
    let heads = file.value(KEY_HEADS).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let first = heads.iter().position(|heads| heads.as_u64() == Some(0));
    let has = |tensor: &str| first.is_some_and(|layer| file.has(&format!("blk.{layer}.{tensor}")));
    config.insert("mamba_proj_bias".to_owned(), has("ssm_in.bias").into());
    config.insert("mamba_conv_bias".to_owned(), has("ssm_conv1d.bias").into());
    kinds(heads, config, ["attention", "mamba"]);
}

/// Layers with heads of keys attend, others with a width are networks or experts, and the rest are state spaces.
pub fn nemotron_h(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let keys = [
        ("ssm.conv_kernel", "conv_kernel"),
        ("ssm.state_size", "ssm_state_size"),
        ("ssm.group_count", "n_groups"),
        ("ssm.time_step_rank", "mamba_num_heads"),
        ("expert_count", "n_routed_experts"),
        ("expert_feed_forward_length", "moe_intermediate_size"),
        ("expert_shared_feed_forward_length", "moe_shared_expert_intermediate_size"),
        ("expert_weights_norm", "norm_topk_prob"),
        ("expert_weights_scale", "routed_scaling_factor"),
        ("expert_group_count", "n_group"),
        ("expert_group_used_count", "topk_group"),
        ("moe_latent_size", "moe_latent_size"),
    ];
    copy(file, config, &keys);
    let heads = file.count("ssm.time_step_rank").unwrap_or(1).max(1);
    config.insert("mamba_head_dim".to_owned(), (file.count("ssm.inner_size").unwrap_or(0) / heads).into());
    let numbers = |key: &str| file.value(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let (attending, networks) = (numbers(KEY_HEADS), numbers(NETWORKS));
    let network = if file.architecture.is_sigmoid { "moe" } else { "mlp" };
    let is_some = |number: &Value| number.as_u64().is_some_and(|number| number > 0);
    let kinds = attending.iter().zip(&networks).map(|(heads, width)| match (is_some(heads), is_some(width)) {
        (true, _) => "full_attention",
        (false, true) => network,
        (false, false) => "linear_attention",
    });
    let kinds: Vec<&str> = kinds.collect();
    let has = |kind: &str, tensor: &str| {
        let first = kinds.iter().position(|other| *other == kind);
        first.is_some_and(|layer| file.has(&format!("blk.{layer}.{tensor}")))
    };
    config.insert("use_bias".to_owned(), has("linear_attention", "ssm_in.bias").into());
    config.insert("use_conv_bias".to_owned(), has("linear_attention", "ssm_conv1d.bias").into());
    config.insert("layers_block_type".to_owned(), kinds.into());
    for (key, numbers) in [("num_key_value_heads", &attending), ("intermediate_size", &networks)] {
        config.extend(numbers.iter().find(|number| is_some(number)).map(|number| (key.to_owned(), number.clone())));
    }
}

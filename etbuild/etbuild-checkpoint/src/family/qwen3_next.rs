//! Qwen3-Next: linear attention by the gated delta rule, gated attention in every fourth layer, and experts.

use super::conventions::Class;
use super::{Family, conventions, qwen2, qwen2_moe};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, Delta, Experts, HeadNorm, Mixer, Norm};

pub const FAMILY: Family = Family { architectures: &["Qwen3NextForCausalLM"], keys: &[], describe };

/// `Qwen3NextConfig`.
const CLASS: Class = Class {
    norm: Norm { less_one: true, ..Class::LLAMA.norm },
    rotated: 0.25,
    key_heads: Some(2),
    depth: Some(256),
    ..qwen2::CLASS
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.head_norm = HeadNorm::Each;
    decoder.attention.is_gated = true;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    let width = config.optional_size("moe_intermediate_size")?.unwrap_or(512);
    let shared = config.optional_size("shared_expert_intermediate_size")?.unwrap_or(512);
    let experts = qwen2_moe::described(&mut decoder, config, width, [512, 10])?;
    let is_normalized = config.flag_or("norm_topk_prob", true)?;
    decoder.experts = Some(Experts { shared: Some(shared), is_normalized, ..experts });
    let delta = delta(config, &decoder)?;
    let interval = config.optional_size("full_attention_interval")?.unwrap_or(4);
    let kinds = conventions::kinds_of(config, decoder.layers.len(), &["linear_attention", "full_attention"])?;
    for (index, layer) in decoder.layers.iter_mut().enumerate() {
        let attends = match kinds.as_ref().and_then(|kinds| kinds.get(index)) {
            Some(kind) => *kind == 1,
            None => (index + 1) % interval == 0,
        };
        layer.mixer = if attends { Mixer::Attention } else { Mixer::Delta(delta) };
    }
    Ok(decoder)
}

fn delta(config: &Config, decoder: &Decoder) -> Result<Delta, CheckpointError> {
    let delta = Delta {
        heads: config.size("linear_num_value_heads")?,
        key_heads: config.size("linear_num_key_heads")?,
        depth: config.size("linear_value_head_dim")?,
        width: config.size("linear_key_head_dim")?,
        kernel: config.optional_size("linear_conv_kernel_dim")?.unwrap_or(4),
        activation: decoder.feed_forward.activation,
        module: "linear_attn",
    };
    if !delta.heads.is_multiple_of(delta.key_heads) {
        let reason = format!("does not divide {} heads of values", delta.heads);
        return Err(config.mistake("linear_num_key_heads", reason));
    }
    Ok(delta)
}

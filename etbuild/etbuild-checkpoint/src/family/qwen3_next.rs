//! Qwen3-Next: linear attention by the gated delta rule, gated attention in every fourth layer, and experts.

use super::conventions::Class;
use super::{Family, conventions, qwen2, qwen2_moe};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, Delta, DeltaInputs, Experts, HeadNorm, Mixer, Norm};

pub const FAMILY: Family = Family { architectures: &["Qwen3NextForCausalLM"], keys: &[], describe };

/// `Qwen3NextConfig`.
pub const CLASS: Class = Class {
    norm: Norm { less_one: true, ..Class::LLAMA.norm },
    rotated: 0.25,
    key_heads: Some(2),
    depth: Some(256),
    ..qwen2::CLASS
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = hybrid(config, &CLASS, DeltaInputs::FusedByHead)?;
    let experts = experts(&mut decoder, config, [512, 10])?;
    decoder.experts = Some(Experts { is_normalized: config.flag_or("norm_topk_prob", true)?, ..experts });
    Ok(decoder)
}

/// Experts beside a network that every token passes.
pub fn experts(decoder: &mut Decoder, config: &Config, counts: [usize; 2]) -> Result<Experts, CheckpointError> {
    let width = config.optional_size("moe_intermediate_size")?.unwrap_or(512);
    let shared = config.optional_size("shared_expert_intermediate_size")?.unwrap_or(512);
    Ok(Experts { shared: Some(shared), ..qwen2_moe::described(decoder, config, width, counts)? })
}

/// A decoder of gated attention and linear attention: by `layer_types` or, for an absent key, attention in every
/// `full_attention_interval`th layer.
pub fn hybrid(config: &Config, class: &Class, inputs: DeltaInputs) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, class)?;
    decoder.attention.head_norm = HeadNorm::Each;
    decoder.attention.is_gated = true;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    let delta = delta(config, &decoder, inputs)?;
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

fn delta(config: &Config, decoder: &Decoder, inputs: DeltaInputs) -> Result<Delta, CheckpointError> {
    let delta = Delta {
        heads: config.size("linear_num_value_heads")?,
        key_heads: config.size("linear_num_key_heads")?,
        depth: config.size("linear_value_head_dim")?,
        width: config.size("linear_key_head_dim")?,
        kernel: config.optional_size("linear_conv_kernel_dim")?.unwrap_or(4),
        activation: decoder.feed_forward.activation,
        inputs,
        is_tiled: false,
        stores_rates: false,
        module: "linear_attn",
    };
    if !delta.heads.is_multiple_of(delta.key_heads) {
        let reason = format!("does not divide {} heads of values", delta.heads);
        return Err(config.mistake("linear_num_key_heads", reason));
    }
    Ok(delta)
}

//! Qwen 1.5 and 2 with a mixture of experts, and a network that every token passes.

use super::conventions::Class;
use super::{Family, conventions, qwen2};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, Experts};

pub const FAMILY: Family = Family { architectures: &["Qwen2MoeForCausalLM"], keys: &[], describe };

/// `Qwen2MoeConfig`.
const CLASS: Class = Class { key_heads: Some(16), ..qwen2::CLASS };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.biases = Biases { inputs: config.flag_or("qkv_bias", true)?, output: false };
    let width = config.optional_size("moe_intermediate_size")?.unwrap_or(1408);
    let shared = config.optional_size("shared_expert_intermediate_size")?.unwrap_or(5632);
    let experts = described(&mut decoder, config, width, [60, 4])?;
    decoder.experts = Some(Experts { shared: Some(shared), ..experts });
    let window = conventions::switched_window(config, &CLASS)?;
    let first = config.optional_count("max_window_layers")?.unwrap_or(28);
    conventions::slide(&mut decoder, config, window, |index| index % 2 == 0 && index < first)?;
    Ok(decoder)
}

/// The experts of Qwen: in every `decoder_sparse_step`th layer, but for `mlp_only_layers`.
pub fn described(
    decoder: &mut Decoder,
    config: &Config,
    width: usize,
    counts: [usize; 2],
) -> Result<Experts, CheckpointError> {
    let experts = conventions::experts(decoder, config, width, counts)?;
    let step = config.optional_size("decoder_sparse_step")?.unwrap_or(1);
    let dense = config.optional_counts("mlp_only_layers")?.unwrap_or_default();
    for (index, layer) in decoder.layers.iter_mut().enumerate() {
        layer.has_experts = (index + 1) % step == 0 && !dense.contains(&index);
    }
    Ok(Experts { is_normalized: config.flag("norm_topk_prob")?, ..experts })
}

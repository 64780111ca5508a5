//! Qwen 3 with a mixture of experts.

use super::conventions::Class;
use super::{Family, conventions, qwen2, qwen2_moe};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, HeadNorm};

pub const FAMILY: Family = Family { architectures: &["Qwen3MoeForCausalLM"], keys: &[], describe };

/// `Qwen3MoeConfig`.
const CLASS: Class = Class { key_heads: Some(4), ..qwen2::CLASS };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.head_norm = HeadNorm::Each;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    let width = config.optional_size("moe_intermediate_size")?.unwrap_or(768);
    decoder.experts = Some(qwen2_moe::described(&mut decoder, config, width, [128, 8])?);
    let window = conventions::switched_window(config, &CLASS)?;
    decoder.layers.iter_mut().for_each(|layer| layer.window = window);
    Ok(decoder)
}

//! Seed-OSS: Llama's architecture with QKV biases.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["SeedOssForCausalLM"], keys: &[], describe };

/// `SeedOssConfig`.
const CLASS: Class = Class { longest: 524_288, key_heads: Some(8), depth: Some(128), ..Class::LLAMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::biases(&mut decoder, config, true)?;
    decoder.attention.biases.output = config.flag("attention_out_bias")?;
    Ok(decoder)
}

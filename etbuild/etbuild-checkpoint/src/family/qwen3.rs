//! Qwen 3: heads of queries and keys are normalized.

use super::conventions::Class;
use super::{Family, conventions, qwen2};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, HeadNorm};

pub const FAMILY: Family = Family { architectures: &["Qwen3ForCausalLM"], keys: &[], describe };

/// `Qwen3Config`.
const CLASS: Class = Class { depth: Some(128), ..qwen2::CLASS };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.head_norm = HeadNorm::Each;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    qwen2::windows(&mut decoder, config)?;
    Ok(decoder)
}

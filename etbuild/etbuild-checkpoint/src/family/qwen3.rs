//! Qwen 3: heads of queries and keys are normalized.

use super::conventions::Defaults;
use super::{Family, conventions, qwen2};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, HeadNorm};

pub const FAMILY: Family = Family { architectures: &["Qwen3ForCausalLM"], describe };

/// `Qwen3Config`.
const DEFAULTS: Defaults = Defaults { depth: Some(128), ..qwen2::DEFAULTS };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &DEFAULTS)?;
    decoder.attention.head_norm = HeadNorm::Each;
    decoder.attention.biases = if config.flag("attention_bias")? { Biases::All } else { Biases::None };
    qwen2::windows(&mut decoder, config)?;
    Ok(decoder)
}

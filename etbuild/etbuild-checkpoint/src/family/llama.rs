//! Llama 2 and 3, and SmolLM 1 and 2, which share the architecture.

use super::conventions::Defaults;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["LlamaForCausalLM"], describe };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &Defaults::LLAMA)?;
    decoder.attention.biases = if config.flag("attention_bias")? { Biases::All } else { Biases::None };
    decoder.feed_forward.biases = config.flag("mlp_bias")?;
    Ok(decoder)
}

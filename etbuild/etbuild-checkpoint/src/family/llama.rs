//! Llama 2 and 3, and SmolLM 1 and 2, which share the architecture.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["LlamaForCausalLM"], keys: &[], describe };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &Class::LLAMA)?;
    conventions::biases(&mut decoder, config, false)?;
    Ok(decoder)
}

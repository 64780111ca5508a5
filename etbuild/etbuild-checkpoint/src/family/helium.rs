//! Helium: Llama's architecture with neighbouring rotated pairs.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["HeliumForCausalLM"], keys: &[], describe };

/// `HeliumConfig`.
const CLASS: Class = Class {
    is_interleaved: true,
    theta: 100_000.0,
    longest: 4096,
    key_heads: Some(20),
    depth: Some(128),
    ..Class::LLAMA
}
.epsilon(1e-8);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::biases(&mut decoder, config, false)?;
    decoder.attention.biases = Biases { output: false, ..decoder.attention.biases };
    Ok(decoder)
}

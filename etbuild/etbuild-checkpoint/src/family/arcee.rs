//! Arcee's AFM: Llama's architecture with a network of squared ReLU without a gate.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Activation, CheckpointError, Decoder, Gate};

pub const FAMILY: Family = Family { architectures: &["ArceeForCausalLM"], keys: &[], describe };

/// `ArceeConfig`.
const CLASS: Class =
    Class { gate: Gate::None, activation: Activation::ReluSquared, longest: 4096, ..Class::LLAMA }.epsilon(1e-5);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::biases(&mut decoder, config, false)?;
    Ok(decoder)
}

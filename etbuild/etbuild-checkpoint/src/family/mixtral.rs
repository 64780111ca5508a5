//! Mixtral: Mistral's architecture with a mixture of experts.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder, ExpertNames, Experts};

pub const FAMILY: Family = Family { architectures: &["MixtralForCausalLM"], keys: &[], describe };

/// `MixtralConfig`.
const CLASS: Class = Class { theta: 1_000_000.0, longest: 131_072, key_heads: Some(8), ..Class::LLAMA }.epsilon(1e-5);

/// The names of the published checkpoints.
pub const NAMES: ExpertNames =
    ExpertNames { module: "block_sparse_moe", gate: "w1", up: "w3", down: "w2", ..ExpertNames::QWEN };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    let width = decoder.feed_forward.width;
    let experts = conventions::experts(&mut decoder, config, width, [8, 2])?;
    decoder.experts = Some(Experts { names: NAMES, ..experts });
    let window = conventions::window(config, &CLASS)?;
    decoder.layers.iter_mut().for_each(|layer| layer.window = window);
    Ok(decoder)
}

//! Granite's mixture of experts.

use super::{Family, conventions, granite};
use crate::config::Config;
use crate::{CheckpointError, Decoder, ExpertNames, Experts, Storage};

pub const FAMILY: Family = Family { architectures: &["GraniteMoeForCausalLM"], keys: &[], describe };

/// Gate and up are one tensor of all experts.
pub const NAMES: ExpertNames = ExpertNames {
    module: "block_sparse_moe",
    router: "router.layer",
    gate: "input_linear",
    up: "input_linear",
    down: "output_linear",
    ..ExpertNames::QWEN
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = granite::describe(config)?;
    decoder.feed_forward.biases = false;
    let width = decoder.feed_forward.width;
    let experts = conventions::experts(&mut decoder, config, width, [8, 2])?;
    decoder.experts = Some(Experts { storage: Storage::Stacked, names: NAMES, ..experts });
    Ok(decoder)
}

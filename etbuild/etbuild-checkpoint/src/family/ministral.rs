//! Ministral: Mistral's architecture, whose layers may differ in their windows.

use super::{Family, conventions, mistral};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["MinistralForCausalLM"], keys: &[], describe };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &mistral::CLASS)?;
    let window = conventions::window(config, &mistral::CLASS)?;
    conventions::slide(&mut decoder, config, window, |_| true)?;
    Ok(decoder)
}

//! OLMo 3: OLMo 2 with windows in three layers of four, whose rotary embedding is not stretched.

use super::conventions::Class;
use super::{Family, conventions, olmo2};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["Olmo3ForCausalLM"], keys: &[], describe };

/// `Olmo3Config`.
const CLASS: Class = Class { theta: 500_000.0, window: Some(4096), ..Class::LLAMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = olmo2::described(config, &CLASS)?;
    let window = conventions::window(config, &CLASS)?;
    let local = conventions::slide(&mut decoder, config, window, |index| (index + 1) % 4 != 0)?;
    let depth = decoder.attention.depth;
    conventions::rotate_by_kind(&mut decoder, config, [(&CLASS, depth); 2], "", &local)?;
    Ok(decoder)
}

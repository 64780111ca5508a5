//! EXAONE 4: norms behind attention and network, and for each head; with windows, only layers with a window rotate.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder, HeadNorm, NormPlaces};

pub const FAMILY: Family = Family { architectures: &["Exaone4ForCausalLM"], keys: &[], describe };

/// `Exaone4Config`.
const CLASS: Class =
    Class { places: NormPlaces::BEHIND, window: Some(4096), key_heads: Some(32), ..Class::LLAMA }.epsilon(1e-5);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.head_norm = HeadNorm::Each;
    // The pattern can also be a text, beside `layer_types`.
    let pattern = match config.value("layer_types") {
        Some(_) => None,
        None => config.optional_size("sliding_window_pattern")?,
    };
    let (pattern, window) = (pattern.unwrap_or(4), conventions::window(config, &CLASS)?);
    let local = conventions::slide(&mut decoder, config, window, |index| (index + 1) % pattern != 0)?;
    if window.is_some() {
        conventions::rotate_only(&mut decoder, &local);
    }
    Ok(decoder)
}

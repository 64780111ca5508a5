//! Qwen2.5-VL: as Qwen2-VL, with windows in the tower, RMSNorm and gates.

use super::vision::{Sizes, with_sizes};
use super::{Family, qwen2_vl};
use crate::config::Config;
use crate::{Activation, CheckpointError, Decoder, Patches, Windows};

pub const FAMILY: Family = Family { architectures: &["Qwen2_5_VLForConditionalGeneration"], keys: &[], describe };

/// `Qwen2_5_VLVisionConfig`.
const TOWER: Sizes = &[
    ("hidden_size", 3584),
    ("intermediate_size", 3420),
    ("window_size", 112),
    ("patch_size", 14),
    ("spatial_merge_size", 2),
];

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    qwen2_vl::decoder(config, |vision| {
        let vision = with_sizes(vision.clone(), TOWER);
        let (width, inner) = (vision.size("hidden_size")?, vision.size("intermediate_size")?);
        let patches = qwen2_vl::patches(&vision, width, inner, Activation::Silu)?;
        let windows = windows(&vision, &patches)?;
        Ok(Patches { is_gated: true, windows: Some(windows), ..patches })
    })
}

/// The windows: `window_size` is in pixels.
fn windows(vision: &Config, patches: &Patches) -> Result<Windows, CheckpointError> {
    const SIZE: &str = "window_size";
    let side = vision.size(SIZE)? / patches.square / patches.patch;
    if side == 0 {
        return Err(vision.mistake(SIZE, "is less than an image token"));
    }
    let whole = vision.optional_counts("fullatt_block_indexes")?.unwrap_or_else(|| vec![7, 15, 23, 31]);
    Ok(Windows { side, whole })
}

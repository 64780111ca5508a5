//! Qwen2-VL: a tower over pictures of any size, and Qwen 2 with positions of three parts.

use super::conventions::{self, Class};
use super::vision::{Sizes, refuse_quantized, with_sizes};
use super::{Family, qwen2};
use crate::config::Config;
use crate::{
    Activation, Biases, CheckpointError, Decoder, Mutual, PatchNames, PatchProjector, PatchTurning, Patches, Sections,
    Vision, VisionEncoder,
};

pub const FAMILY: Family = Family { architectures: &["Qwen2VLForConditionalGeneration"], keys: &[], describe };

/// `Qwen2VLTextConfig`.
const CLASS: Class = Class { theta: 1e6, key_heads: Some(8), ..qwen2::CLASS }.epsilon(1e-5);

/// The sizes of `Qwen2VLTextConfig`.
const TEXT: Sizes = &[
    ("vocab_size", 152_064),
    ("hidden_size", 8192),
    ("intermediate_size", 29_568),
    ("num_hidden_layers", 80),
    ("num_attention_heads", 64),
    ("max_window_layers", 80),
];

/// `Qwen2VLVisionConfig`.
const TOWER: Sizes = &[("embed_dim", 1280), ("mlp_ratio", 4)];

/// The sizes of towers of all families.
const ALL: Sizes =
    &[("depth", 32), ("num_heads", 16), ("patch_size", 14), ("spatial_merge_size", 2), ("temporal_patch_size", 2)];

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    decoder(config, |vision| {
        let vision = with_sizes(vision.clone(), TOWER);
        let (width, ratio) = (vision.size("embed_dim")?, vision.size("mlp_ratio")?);
        patches(&vision, width, width * ratio, Activation::QuickGelu)
    })
}

/// A model whose tower is made of `vision_config`.
pub fn decoder(
    config: &Config,
    tower: impl FnOnce(&Config) -> Result<Patches, CheckpointError>,
) -> Result<Decoder, CheckpointError> {
    refuse_quantized(config)?;
    let mut decoder = text(config)?;
    decoder.vision = Some(vision(config, 151_655, tower)?);
    Ok(decoder)
}

/// The vision encoder whose tower is made of `vision_config`; `token` is the image token where the configuration names none.
pub fn vision(
    config: &Config,
    token: usize,
    tower: impl FnOnce(&Config) -> Result<Patches, CheckpointError>,
) -> Result<Vision, CheckpointError> {
    let vision = config.optional_map("vision_config")?.ok_or_else(|| config.mistake("vision_config", "is missing"))?;
    let encoder = VisionEncoder::Patches(tower(&vision)?);
    let token = config.optional_count("image_token_id")?.unwrap_or(token);
    Ok(Vision { encoder, token: u32::try_from(token).unwrap_or(u32::MAX), mutual: Mutual::Nowhere })
}

/// The decoder: of `text_config`, or in older configurations of the keys beside `vision_config`.
fn text(config: &Config) -> Result<Decoder, CheckpointError> {
    let text = config.optional_map("text_config")?.unwrap_or_else(|| config.clone());
    let text = with_sizes(text, TEXT);
    let mut decoder = conventions::decoder(&text, &CLASS)?;
    decoder.attention.biases = Biases::INPUTS;
    decoder.tied = decoder.tied || config.flag("tie_word_embeddings")?;
    qwen2::windows(&mut decoder, &text)?;
    section(&mut decoder, &text, Sections { counts: [16, 24, 24], takes_turns: false })?;
    Ok(decoder)
}

/// Has pairs turn by time, row and column: so many of each as the configuration of the text says, or as the class does.
pub fn section(decoder: &mut Decoder, text: &Config, class: Sections) -> Result<(), CheckpointError> {
    const KEY: &str = "mrope_section";
    let rope = conventions::rope(text)?;
    let counts = rope.optional_counts(KEY)?.unwrap_or_else(|| class.counts.into());
    let counts = counts.try_into().map_err(|_| rope.mistake(KEY, "is no list of three numbers"))?;
    decoder.rotaries.iter_mut().for_each(|rotary| rotary.sections = Some(Sections { counts, ..class }));
    Ok(())
}

/// The part of the towers of all families that read patches.
pub fn patches(
    vision: &Config,
    width: usize,
    inner: usize,
    activation: Activation,
) -> Result<Patches, CheckpointError> {
    let vision = with_sizes(vision.clone(), ALL);
    for key in ["in_channels", "in_chans"] {
        if vision.optional_size(key)?.is_some_and(|channels| channels != 3) {
            return Err(vision.unsupported(key, "`3`"));
        }
    }
    let heads = vision.size("num_heads")?;
    if !width.is_multiple_of(4 * heads) {
        return Err(vision.mistake("num_heads", format!("does not divide the width of {width} into fours")));
    }
    Ok(Patches {
        patch: vision.size("patch_size")?,
        square: vision.size("spatial_merge_size")?,
        frames: vision.size("temporal_patch_size")?,
        width,
        heads,
        key_heads: heads,
        depth: width / heads,
        has_head_norms: false,
        inner,
        layers: vision.size("depth")?,
        activation: conventions::activation(&vision, "hidden_act", activation)?,
        theta: conventions::rope(&vision)?.optional_number("rope_theta")?.unwrap_or(10_000.0),
        turning: PatchTurning::Across,
        epsilon: 1e-6,
        is_gated: false,
        windows: None,
        is_by_pixel: false,
        has_bias: false,
        has_biases: true,
        is_clipped: false,
        axes: None,
        usual: None,
        table: None,
        deep: Vec::new(),
        projector: PatchProjector::Squares,
        names: &PatchNames::QWEN2,
    })
}

//! Mistral 3: the tower of Pixtral over pictures of any size, a matrix over squares of patches, and Mistral. A token of the vocabulary is behind
//! each row of image tokens.

use super::qwen2_vl::vision;
use super::vision::{Sizes, known, nested, with_sizes};
use super::{Family, conventions, ministral3, mistral};
use crate::config::Config;
use crate::quantized;
use crate::{Activation, CheckpointError, Decoder, PatchNames, PatchProjector, PatchTurning, Patches};

pub const FAMILY: Family = Family { architectures: &["Mistral3ForConditionalGeneration"], keys: &[], describe };

/// The decoders by `model_type`.
const TEXTS: &[(&str, &Family, Sizes)] =
    &[("ministral3", &ministral3::FAMILY, &[]), ("mistral", &mistral::FAMILY, &[])];

/// The towers by `model_type`: `PixtralVisionConfig`.
const TOWERS: [(&str, Sizes); 1] = [(
    "pixtral",
    &[
        ("hidden_size", 1024),
        ("intermediate_size", 4096),
        ("num_hidden_layers", 24),
        ("num_attention_heads", 16),
        ("num_channels", 3),
        ("patch_size", 16),
    ],
)];

/// The epsilon of the normalizations in the tower.
const EPSILON: f64 = 1e-5;

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = nested(config, TEXTS)?;
    if quantized::method(config)?.is_some() {
        return Ok(Decoder { is_for_texts: true, ..decoder });
    }
    // The key of the image token in older configurations.
    let token = config.optional_count("image_token_index")?.unwrap_or(10);
    decoder.vision = Some(vision(config, token, |tower| patches(config, tower, decoder.norm.epsilon))?);
    Ok(decoder)
}

fn patches(config: &Config, vision: &Config, epsilon: f64) -> Result<Patches, CheckpointError> {
    const HEADS: &str = "num_attention_heads";
    const LAYER: &str = "vision_feature_layer";
    if config.value(LAYER).is_some_and(|layer| layer.as_i64() != Some(-1)) {
        return Err(config.unsupported(LAYER, "`-1`"));
    }
    let vision = with_sizes(vision.clone(), known(vision, TOWERS.into_iter())?);
    if vision.size("num_channels")? != 3 {
        return Err(vision.unsupported("num_channels", "`3`"));
    }
    let (width, heads) = (vision.size("hidden_size")?, vision.size(HEADS)?);
    if !width.is_multiple_of(4 * heads) {
        return Err(vision.mistake(HEADS, format!("does not divide the width of {width} into fours")));
    }
    let projector = PatchProjector::Merged {
        activation: conventions::activation(config, "projector_hidden_act", Activation::Gelu)?,
        has_biases: config.flag("multimodal_projector_bias")?,
        epsilon,
    };
    Ok(Patches {
        patch: vision.size("patch_size")?,
        square: config.optional_size("spatial_merge_size")?.unwrap_or(2),
        frames: 1,
        width,
        heads,
        key_heads: heads,
        depth: width / heads,
        has_head_norms: false,
        inner: vision.size("intermediate_size")?,
        layers: vision.size("num_hidden_layers")?,
        activation: conventions::activation(&vision, "hidden_act", Activation::Gelu)?,
        theta: theta(&vision)?,
        turning: PatchTurning::Between,
        epsilon: EPSILON,
        is_gated: true,
        windows: None,
        is_by_pixel: false,
        has_bias: false,
        has_biases: false,
        is_clipped: false,
        axes: None,
        usual: None,
        table: None,
        deep: Vec::new(),
        projector,
        names: &PatchNames::PIXTRAL,
    })
}

/// The base of the wavelengths: a key of the rotary embedding, or in older configurations of the tower.
fn theta(vision: &Config) -> Result<f64, CheckpointError> {
    const KEY: &str = "rope_theta";
    let of_rope = conventions::rope(vision)?.optional_number(KEY)?;
    Ok(of_rope.or(vision.optional_number(KEY)?).unwrap_or(10_000.0))
}

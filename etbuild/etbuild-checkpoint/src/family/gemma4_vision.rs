//! Gemma 4 with pictures: a tower over pictures of any size, means of squares of patches, and a decoder in which the image tokens of a picture
//! may see each other. The audio encoder is left out.

use super::qwen2_vl::vision;
use super::vision::{Sizes, known, nested, with_sizes};
use super::{Family, conventions, gemma4};
use crate::config::Config;
use crate::quantized;
use crate::{Activation, CheckpointError, Decoder, Mutual, PatchNames, PatchProjector, PatchTurning, Patches};

pub const FAMILY: Family = Family { architectures: &["Gemma4ForConditionalGeneration"], keys: &[], describe };

/// The decoders by `model_type`.
const TEXTS: &[(&str, &Family, Sizes)] = &[("gemma4_text", &gemma4::FAMILY, TEXT)];

/// `Gemma4TextConfig`.
const TEXT: Sizes = &[
    ("vocab_size", 262_144),
    ("hidden_size", 2304),
    ("intermediate_size", 9216),
    ("num_hidden_layers", 30),
    ("num_attention_heads", 8),
];

/// The towers by `model_type`: `Gemma4VisionConfig`.
const TOWERS: [(&str, Sizes); 1] = [(
    "gemma4_vision",
    &[
        ("hidden_size", 768),
        ("intermediate_size", 3072),
        ("num_hidden_layers", 16),
        ("num_attention_heads", 12),
        ("num_key_value_heads", 12),
        ("head_dim", 64),
        ("patch_size", 16),
        ("pooling_kernel_size", 3),
        ("position_embedding_size", 10_240),
    ],
)];

/// The image tokens of a picture as the image processor has them.
const IMAGE_TOKENS: usize = 280;

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    const MUTUAL: &str = "use_bidirectional_attention";
    let mut decoder = nested(config, TEXTS)?;
    let has_tower = config.optional_map("vision_config")?.is_some();
    if !has_tower || quantized::method(config)?.is_some() {
        return Ok(Decoder { is_for_texts: true, ..decoder });
    }
    let text = config.optional_map("text_config")?.unwrap_or_else(|| config.clone());
    if decoder.layer_inputs.is_some_and(|inputs| inputs.padding as usize >= inputs.vocabulary) {
        return Err(text.mistake("pad_token_id", "has no row in the table of embeddings for each layer"));
    }
    let is_mutual = text.optional_text(MUTUAL)?.is_some_and(|kind| kind == "vision");
    let mut vision = vision(config, 258_880, |tower| patches(config, tower))?;
    vision.mutual = if is_mutual { Mutual::InWindows } else { Mutual::Nowhere };
    decoder.vision = Some(vision);
    Ok(decoder)
}

fn patches(config: &Config, vision: &Config) -> Result<Patches, CheckpointError> {
    const HEADS: &str = "num_attention_heads";
    const DEPTH: &str = "head_dim";
    let vision = with_sizes(vision.clone(), known(vision, TOWERS.into_iter())?);
    let (heads, key_heads, depth) = (vision.size(HEADS)?, vision.size("num_key_value_heads")?, vision.size(DEPTH)?);
    if !heads.is_multiple_of(key_heads) {
        return Err(vision.mistake("num_key_value_heads", format!("does not divide {heads} heads")));
    }
    if !depth.is_multiple_of(4) {
        return Err(vision.mistake(DEPTH, "is no multiple of four"));
    }
    let usual = config.optional_size("vision_soft_tokens_per_image")?.unwrap_or(IMAGE_TOKENS);
    Ok(Patches {
        patch: vision.size("patch_size")?,
        square: vision.size("pooling_kernel_size")?,
        frames: 1,
        width: vision.size("hidden_size")?,
        heads,
        key_heads,
        depth,
        has_head_norms: true,
        inner: vision.size("intermediate_size")?,
        layers: vision.size("num_hidden_layers")?,
        activation: conventions::activation(&vision, "hidden_activation", Activation::GeluTanh)?,
        theta: theta(&vision)?,
        turning: PatchTurning::Within,
        epsilon: vision.optional_number("rms_norm_eps")?.unwrap_or(1e-6),
        is_gated: true,
        windows: None,
        is_by_pixel: true,
        has_bias: false,
        has_biases: false,
        is_clipped: vision.flag("use_clipped_linears")?,
        axes: Some(vision.size("position_embedding_size")?),
        usual: Some(u32::try_from(usual).unwrap_or(u32::MAX)),
        table: None,
        deep: Vec::new(),
        projector: PatchProjector::Pooled { is_standardized: vision.flag("standardize")? },
        names: &PatchNames::GEMMA4,
    })
}

/// The base of the wavelengths. Older configurations name the kind of the rotary embedding `default`.
fn theta(vision: &Config) -> Result<f64, CheckpointError> {
    const KIND: &str = "rope_type";
    let rope = conventions::rope(vision)?;
    if rope.optional_text(KIND)?.is_some_and(|kind| !["axial", "default"].contains(&kind.as_str())) {
        return Err(rope.unsupported(KIND, "`axial`, `default`"));
    }
    Ok(rope.optional_number("rope_theta")?.unwrap_or(100.0))
}

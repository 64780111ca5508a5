//! Qwen3-VL: a tower with learned positions over pictures of any size, whose earlier layers add to the first layers of Qwen 3 (DeepStack).

use super::qwen2_vl::{self, section, vision};
use super::vision::{Sizes, nested, with_sizes};
use super::{Family, qwen3, qwen3_moe};
use crate::config::Config;
use crate::quantized;
use crate::{Activation, CheckpointError, Decoder, PatchNames, Patches, Sections};

pub const FAMILY: Family = Family {
    architectures: &["Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration"],
    keys: &[],
    describe,
};

/// The decoders by `model_type`.
const TEXTS: &[(&str, &Family, Sizes)] =
    &[("qwen3_vl_moe_text", &MIXTURE, TEXT_OF_MIXTURE), ("qwen3_vl_text", &qwen3::FAMILY, TEXT)];

/// The decoder with experts, whose shares are always divided by their sum.
const MIXTURE: Family = Family { architectures: &[], keys: &[], describe: describe_mixture };

/// `Qwen3VLTextConfig`.
const TEXT: Sizes = &[
    ("vocab_size", 151_936),
    ("hidden_size", 4096),
    ("intermediate_size", 22_016),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
    ("num_key_value_heads", 32),
    ("max_position_embeddings", 128_000),
    ("rope_theta", 500_000),
];

/// `Qwen3VLMoeTextConfig`.
const TEXT_OF_MIXTURE: Sizes = &[
    ("vocab_size", 151_936),
    ("hidden_size", 2048),
    ("intermediate_size", 5632),
    ("num_hidden_layers", 24),
    ("num_attention_heads", 16),
    ("num_key_value_heads", 16),
    ("max_position_embeddings", 128_000),
    ("rope_theta", 500_000),
    ("moe_intermediate_size", 1408),
    ("num_experts_per_tok", 4),
];

/// `Qwen3VLVisionConfig`.
const TOWER: Sizes = &[
    ("depth", 27),
    ("hidden_size", 1152),
    ("intermediate_size", 4304),
    ("num_heads", 16),
    ("patch_size", 16),
    ("num_position_embeddings", 2304),
];

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    decoder(config, TEXTS, [24, 20, 20], |decoder| {
        vision(config, 151_655, |tower| {
            let deep = deep(tower, decoder)?;
            Ok(Patches { deep, ..patches(tower)? })
        })
    })
}

fn describe_mixture(config: &Config) -> Result<Decoder, CheckpointError> {
    // Newer configurations have another key.
    let is_counted = config.value("num_local_experts").is_some();
    let config = if is_counted { config.clone() } else { with_sizes(config.clone(), &[("num_experts", 60)]) };
    let mut decoder = (qwen3_moe::FAMILY.describe)(&config)?;
    decoder.experts.iter_mut().for_each(|experts| experts.is_normalized = true);
    Ok(decoder)
}

/// A model with one of these decoders, with so many pairs of time, row and column, and the vision encoder that `see` makes. Quantized
/// checkpoints answer texts.
pub fn decoder(
    config: &Config,
    texts: &[(&'static str, &Family, Sizes)],
    counts: [usize; 3],
    see: impl FnOnce(&Decoder) -> Result<crate::Vision, CheckpointError>,
) -> Result<Decoder, CheckpointError> {
    let mut decoder = nested(config, texts)?;
    if quantized::method(config)?.is_some() {
        return Ok(Decoder { is_for_texts: true, ..decoder });
    }
    let text = config.optional_map("text_config")?.unwrap_or_else(|| config.clone());
    section(&mut decoder, &text, Sections { counts, takes_turns: true })?;
    decoder.vision = Some(see(&decoder)?);
    Ok(decoder)
}

/// The tower without layers that add to those of a decoder.
pub fn patches(vision: &Config) -> Result<Patches, CheckpointError> {
    const POSITIONS: &str = "num_position_embeddings";
    let vision = with_sizes(vision.clone(), TOWER);
    let (width, inner, positions) =
        (vision.size("hidden_size")?, vision.size("intermediate_size")?, vision.size(POSITIONS)?);
    let side = positions.isqrt();
    if side * side != positions {
        return Err(vision.mistake(POSITIONS, "is no square"));
    }
    let patches = qwen2_vl::patches(&vision, width, inner, Activation::GeluTanh)?;
    Ok(Patches { has_bias: true, table: Some(side), names: &PatchNames::QWEN3, ..patches })
}

/// The layers of the tower that add to the first layers of the decoder, in ascending order, each with its place in the list.
fn deep(vision: &Config, decoder: &Decoder) -> Result<Vec<[usize; 2]>, CheckpointError> {
    const KEY: &str = "deepstack_visual_indexes";
    let vision = with_sizes(vision.clone(), TOWER);
    let listed = vision.optional_counts(KEY)?.unwrap_or_else(|| vec![8, 16, 24]);
    let mut deep: Vec<[usize; 2]> = listed.into_iter().enumerate().map(|(index, layer)| [layer, index]).collect();
    deep.sort_unstable();
    let is_twice = deep.windows(2).any(|pair| matches!(pair, [[one, _], [other, _]] if one == other));
    let (layers, most) = (vision.size("depth")?, decoder.layers.len());
    match deep.last() {
        _ if is_twice => Err(vision.mistake(KEY, "names a layer twice")),
        Some([last, _]) if *last >= layers => Err(vision.mistake(KEY, format!("names layer {last}, of {layers}"))),
        _ if deep.len() > most => {
            Err(vision.mistake(KEY, format!("has more layers than the decoder, which has {most}")))
        }
        _ => Ok(deep),
    }
}

//! The configuration keys that families with a vision encoder share.

use serde_json::{Value, json};

use super::conventions::{activation, listed};
use super::{Family, gemma3, llama, mistral, qwen2, qwen3};
use crate::config::Config;
use crate::{Activation, CheckpointError, Decoder, Mutual, Projector, Tower, Vision, VisionEncoder};

/// Numbers of a configuration class, for keys that a nested configuration lacks: such a configuration states differences alone.
pub type Sizes = &'static [(&'static str, u64)];

/// The decoders beside encoders of pictures and sound, by `model_type`.
const TEXTS: &[(&str, &Family, Sizes)] = &[
    ("gemma3_text", &gemma3::FAMILY, GEMMA3),
    ("llama", &llama::FAMILY, LLAMA),
    ("mistral", &mistral::FAMILY, MISTRAL),
    ("qwen2", &qwen2::FAMILY, QWEN),
    ("qwen3", &qwen3::FAMILY, QWEN),
];

/// `LlamaConfig`.
const LLAMA: Sizes = &[
    ("vocab_size", 32_000),
    ("hidden_size", 4096),
    ("intermediate_size", 11_008),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
];

/// `MistralConfig`.
const MISTRAL: Sizes = &[
    ("vocab_size", 32_000),
    ("hidden_size", 4096),
    ("intermediate_size", 14_336),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
];

/// `Qwen2Config` and `Qwen3Config`.
const QWEN: Sizes = &[
    ("vocab_size", 151_936),
    ("hidden_size", 4096),
    ("intermediate_size", 22_016),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
];

/// `Gemma3TextConfig`.
const GEMMA3: Sizes = &[
    ("vocab_size", 262_208),
    ("hidden_size", 2304),
    ("intermediate_size", 9216),
    ("num_hidden_layers", 26),
    ("num_attention_heads", 8),
];

/// The classes of towers, by `model_type`.
const TOWERS: &[(&str, Class)] = &[
    (
        "clip_vision_model",
        Class {
            sizes: &[
                ("hidden_size", 768),
                ("intermediate_size", 3072),
                ("num_hidden_layers", 12),
                ("num_attention_heads", 12),
                ("image_size", 224),
                ("patch_size", 32),
            ],
            activation: Activation::QuickGelu,
            epsilon: 1e-5,
            is_clip: true,
        },
    ),
    ("idefics3", IDEFICS3),
    ("idefics3_vision", IDEFICS3),
    ("siglip_vision_model", SIGLIP),
    ("smolvlm", IDEFICS3),
    ("smolvlm_vision", IDEFICS3),
];

/// `SiglipVisionConfig`.
const SIGLIP: Class = Class {
    sizes: &[
        ("hidden_size", 768),
        ("intermediate_size", 3072),
        ("num_hidden_layers", 12),
        ("num_attention_heads", 12),
        ("image_size", 224),
        ("patch_size", 16),
    ],
    activation: Activation::GeluTanh,
    epsilon: 1e-6,
    is_clip: false,
};

/// `Idefics3VisionConfig`.
const IDEFICS3: Class = Class {
    sizes: &[
        ("hidden_size", 1152),
        ("intermediate_size", 3072),
        ("num_hidden_layers", 12),
        ("num_attention_heads", 16),
        ("image_size", 224),
        ("patch_size", 32),
    ],
    ..SIGLIP
};

/// The parts that the towers of a class share.
struct Class {
    sizes: Sizes,
    activation: Activation,
    epsilon: f64,
    is_clip: bool,
}

/// The decoder of `text_config`, in floats.
pub fn text(config: &Config) -> Result<Decoder, CheckpointError> {
    refuse_quantized(config)?;
    nested(config, TEXTS)
}

/// The decoder of `text_config`, one of these.
pub fn nested(config: &Config, entries: &[(&'static str, &Family, Sizes)]) -> Result<Decoder, CheckpointError> {
    let text = config.optional_map("text_config")?.ok_or_else(|| config.mistake("text_config", "is missing"))?;
    let (family, sizes) = known(&text, entries.iter().map(|(name, family, sizes)| (*name, (*family, *sizes))))?;
    let mut decoder = (family.describe)(&with_sizes(text, sizes).with_keys(family.keys))?;
    decoder.tied = config.flag_or("tie_word_embeddings", decoder.tied)?;
    Ok(decoder)
}

/// Refuses quantized weights.
pub fn refuse_quantized(config: &Config) -> Result<(), CheckpointError> {
    const KEY: &str = "quantization_config";
    match config.value(KEY) {
        Some(_) => Err(config.unsupported(KEY, "no quantized weights beside an encoder of pictures or sound")),
        None => Ok(()),
    }
}

/// The tower of `vision_config`, all layers and LayerNorm behind the layers.
pub fn tower(config: &Config) -> Result<Tower, CheckpointError> {
    let vision = config.optional_map("vision_config")?.ok_or_else(|| config.mistake("vision_config", "is missing"))?;
    let class = known(&vision, TOWERS.iter().map(|(name, class)| (*name, class)))?;
    let vision = with_sizes(vision, class.sizes);
    if vision.optional_size("num_channels")?.is_some_and(|channels| channels != 3) {
        return Err(vision.unsupported("num_channels", "`3`"));
    }
    let tower = Tower {
        side: vision.size("image_size")?,
        patch: vision.size("patch_size")?,
        width: vision.size("hidden_size")?,
        heads: vision.size("num_attention_heads")?,
        inner: vision.size("intermediate_size")?,
        layers: vision.size("num_hidden_layers")?,
        activation: activation(&vision, "hidden_act", class.activation)?,
        epsilon: vision.optional_number("layer_norm_eps")?.unwrap_or(class.epsilon),
        is_clip: class.is_clip,
        has_norm_behind: true,
        drops_first: false,
    };
    match () {
        () if !tower.width.is_multiple_of(tower.heads) => {
            Err(vision.mistake("num_attention_heads", "does not divide the width"))
        }
        () if tower.patch > tower.side => Err(vision.mistake("patch_size", "is more than `image_size`")),
        () => Ok(tower),
    }
}

/// A vision encoder of these parts.
pub fn vision(config: &Config, tower: Tower, projector: Projector, mutual: Mutual) -> Result<Vision, CheckpointError> {
    let [id, index] = ["image_token_id", "image_token_index"].map(|key| config.optional_count(key));
    let token = id?.or(index?).ok_or_else(|| config.mistake("image_token_id", "is missing"))?;
    let encoder = VisionEncoder::Tiles(tower, projector);
    Ok(Vision { encoder, token: u32::try_from(token).unwrap_or(u32::MAX), mutual })
}

/// The entry of the configuration's `model_type`.
pub fn known<T>(
    config: &Config,
    entries: impl Iterator<Item = (&'static str, T)> + Clone,
) -> Result<T, CheckpointError> {
    const KEY: &str = "model_type";
    let name = config.optional_text(KEY)?.ok_or_else(|| config.mistake(KEY, "is missing"))?;
    let found = entries.clone().find(|(known, _)| *known == name).map(|(_, entry)| entry);
    found.ok_or_else(|| config.unsupported(KEY, listed(entries.map(|(known, _)| known))))
}

/// A configuration with numbers for absent keys.
pub fn with_sizes(config: Config, sizes: Sizes) -> Config {
    let sizes = sizes.iter().map(|(key, size)| (*key, json!(size)));
    config.with_defaults(sizes.collect::<Vec<(&str, Value)>>())
}

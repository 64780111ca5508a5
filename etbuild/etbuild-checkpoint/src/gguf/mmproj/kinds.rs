//! The encoders of GGUF files, a row each: what the metadata means in the configuration of `transformers`.

use serde_json::{Map, Value, json};

use super::Mmproj;
use super::names::{Media, Names, QWEN2, QWEN2_5, QWEN3, SOUND, TILES};

/// A kind of encoder.
pub struct Kind {
    /// The value of `clip.projector_type`.
    pub projector: &'static str,
    /// The architectures of language models with such an encoder, each with the class of `transformers` of both, and the `model_type`
    /// of the language model.
    pub models: &'static [(&'static str, [&'static str; 2])],
    /// What it reads.
    pub media: Media,
    /// The text of the token in the place of a token of the encoder.
    pub token: &'static str,
    /// The keys of the model beside those of its parts.
    pub model: fn(&Mmproj<'_>) -> Map<String, Value>,
    /// The keys of the encoder.
    pub encoder: fn(&Mmproj<'_>) -> Map<String, Value>,
    /// The keys of the steps from a picture or a sound to the input.
    pub processor: fn(&Mmproj<'_>) -> Map<String, Value>,
    /// The names of tensors.
    pub names: &'static Names,
}

/// All kinds.
pub const KINDS: &[Kind] = &[
    Kind {
        projector: "gemma3",
        models: &[("gemma3", ["Gemma3ForConditionalGeneration", "gemma3_text"])],
        media: Media::Tiles,
        token: "<image_soft_token>",
        model: |file| map(json!({"mm_tokens_per_image": gemma_side(file).saturating_pow(2)})),
        encoder: |file| tower(file, "siglip_vision_model"),
        processor: |file| {
            let side = file.count("vision.image_size");
            normalized(file, json!({"size": {"height": side, "width": side}}))
        },
        names: &TILES,
    },
    Kind {
        projector: "idefics3",
        models: &[("llama", ["SmolVLMForConditionalGeneration", "llama"])],
        media: Media::Tiles,
        token: "<image>",
        model: |file| file.copied(&[("projector.scale_factor", "scale_factor")]),
        encoder: |file| tower(file, "smolvlm_vision"),
        processor: |file| {
            let tile = file.count("vision.image_size");
            let longest = file.count("vision.preproc_image_size").or(tile);
            normalized(file, json!({"max_image_size": {"longest_edge": tile}, "size": {"longest_edge": longest}}))
        },
        names: &TILES,
    },
    Kind {
        projector: "qwen2vl_merger",
        models: &[("qwen2vl", ["Qwen2VLForConditionalGeneration", "qwen2_vl_text"])],
        encoder: |file| {
            let mut keys = patches(file, "embed_dim");
            // Converters state the width of the language model as that of the networks.
            let rows = ["v.blk.0.ffn_up.weight", "v.blk.0.ffn_down.weight"].map(|tensor| file.rows(tensor));
            let width = file.count("vision.embedding_length").unwrap_or(1).max(1) as usize;
            let _ = file.count("vision.feed_forward_length");
            keys.insert("mlp_ratio".to_owned(), (rows.into_iter().max().unwrap_or(0) / width).into());
            keys
        },
        names: &QWEN2,
        ..QWEN
    },
    Kind {
        projector: "qwen2.5vl_merger",
        models: &[("qwen2vl", ["Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl_text"])],
        encoder: |file| {
            let mut keys = patches(file, "hidden_size");
            keys.extend(file.copied(&[("feed_forward_length", "intermediate_size"), ("window_size", "window_size")]));
            let whole = file.count("vision.n_wa_pattern").filter(|period| *period > 0);
            let layers = file.count("vision.block_count").unwrap_or(0).min(MOST_LAYERS);
            keys.extend(whole.map(|period| {
                let last = |layer: &u64| (layer + 1).is_multiple_of(period);
                ("fullatt_block_indexes".to_owned(), (0..layers).filter(last).collect())
            }));
            keys
        },
        names: &QWEN2_5,
        ..QWEN
    },
    Kind {
        projector: "qwen3vl_merger",
        models: &[
            ("qwen3vl", ["Qwen3VLForConditionalGeneration", "qwen3_vl_text"]),
            ("qwen3vlmoe", ["Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe_text"]),
            ("qwen35", ["Qwen3_5ForConditionalGeneration", "qwen3_5_text"]),
            ("qwen35moe", ["Qwen3_5MoeForConditionalGeneration", "qwen3_5_moe_text"]),
        ],
        encoder: |file| {
            let mut keys = patches(file, "hidden_size");
            keys.extend(file.copied(&[("feed_forward_length", "intermediate_size")]));
            keys.insert("num_position_embeddings".to_owned(), file.rows("v.position_embd.weight").into());
            keys.insert("deepstack_visual_indexes".to_owned(), file.deep_layers().into());
            keys
        },
        names: &QWEN3,
        ..QWEN
    },
    Kind {
        projector: "voxtral",
        models: &[("llama", ["VoxtralForConditionalGeneration", "llama"])],
        media: Media::Sound,
        token: "[AUDIO]",
        model: |_| Map::new(),
        encoder: |file| {
            // The width of the tower's networks states the number of joined states, and the epsilon is the class's.
            for key in ["audio.projector.stack_factor", "audio.attention.layer_norm_epsilon"] {
                let _ = file.value(key);
            }
            let mut keys = file.copied(&[
                ("embedding_length", "hidden_size"),
                ("feed_forward_length", "intermediate_size"),
                ("block_count", "num_hidden_layers"),
                ("attention.head_count", "num_attention_heads"),
                ("num_mel_bins", "num_mel_bins"),
            ]);
            keys.insert("max_source_positions".to_owned(), file.rows("a.position_embd.weight").into());
            keys
        },
        processor: |file| file.copied(&[("num_mel_bins", "feature_size")]),
        names: &SOUND,
    },
];

/// More layers than any encoder has.
const MOST_LAYERS: u64 = 1 << 12;

/// The parts that the encoders of Qwen share.
const QWEN: Kind = Kind {
    projector: "",
    models: &[],
    media: Media::Patches,
    token: "<|image_pad|>",
    model: |_| Map::new(),
    encoder: |_| Map::new(),
    processor: |file| {
        let mut keys = file.copied(&[
            ("patch_size", "patch_size"),
            ("spatial_merge_size", "merge_size"),
            ("image_min_pixels", "min_pixels"),
            ("image_max_pixels", "max_pixels"),
        ]);
        keys.insert("temporal_patch_size".to_owned(), FRAMES.into());
        normalized(file, Value::Object(keys))
    },
    names: &QWEN2,
};

/// The frames of a patch in all encoders of Qwen: each is a tensor of its own.
const FRAMES: u64 = 2;

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The image tokens of a side: a token is the mean of a square of patches, whose side is 4 unless the file states another.
fn gemma_side(file: &Mmproj<'_>) -> u64 {
    let [side, patch] = ["vision.image_size", "vision.patch_size"].map(|key| file.count(key).unwrap_or(0));
    let square = file.count("vision.projector.scale_factor").unwrap_or(4);
    side.checked_div(patch).and_then(|patches| patches.checked_div(square)).unwrap_or(0)
}

/// The keys of a tower over tiles.
fn tower(file: &Mmproj<'_>, model_type: &str) -> Map<String, Value> {
    let mut keys = file.copied(&[
        ("image_size", "image_size"),
        ("patch_size", "patch_size"),
        ("embedding_length", "hidden_size"),
        ("feed_forward_length", "intermediate_size"),
        ("block_count", "num_hidden_layers"),
        ("attention.head_count", "num_attention_heads"),
        ("attention.layer_norm_epsilon", "layer_norm_eps"),
    ]);
    keys.insert("model_type".to_owned(), model_type.into());
    keys.insert("hidden_act".to_owned(), activation(file).into());
    keys
}

/// The keys of a tower over patches, with the key of the width.
fn patches(file: &Mmproj<'_>, width: &str) -> Map<String, Value> {
    // The sizes of pictures are those of the processor, and the epsilon is the class's.
    for key in ["vision.image_size", "vision.attention.layer_norm_epsilon"] {
        let _ = file.value(key);
    }
    let mut keys = file.copied(&[
        ("patch_size", "patch_size"),
        ("embedding_length", width),
        ("block_count", "depth"),
        ("attention.head_count", "num_heads"),
        ("spatial_merge_size", "spatial_merge_size"),
    ]);
    keys.insert("temporal_patch_size".to_owned(), FRAMES.into());
    keys.insert("hidden_act".to_owned(), activation(file).into());
    keys
}

/// The activation of networks, whose GELU is the one by the hyperbolic tangent.
fn activation(file: &Mmproj<'_>) -> &'static str {
    match ["use_gelu", "use_silu"].map(|key| file.flag(key)) {
        [true, _] => "gelu_pytorch_tanh",
        [_, true] => "silu",
        _ => "quick_gelu",
    }
}

/// The keys of steps with mean and deviation.
fn normalized(file: &Mmproj<'_>, steps: Value) -> Map<String, Value> {
    let mut keys = map(steps);
    keys.extend(file.copied(&[("image_mean", "image_mean"), ("image_std", "image_std")]));
    keys
}

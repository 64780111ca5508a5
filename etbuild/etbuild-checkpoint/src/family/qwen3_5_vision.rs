//! Qwen 3.5 with pictures: the tower of Qwen3-VL, whose earlier layers add nothing to those of the decoder.

use super::qwen2_vl::vision;
use super::qwen3_vl::{decoder, patches};
use super::vision::Sizes;
use super::{Family, qwen3_5};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family {
    architectures: &["Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration"],
    keys: &[],
    describe,
};

/// The decoders by `model_type`.
const TEXTS: &[(&str, &Family, Sizes)] =
    &[("qwen3_5_moe_text", &qwen3_5::MIXTURE, MIXTURE), ("qwen3_5_text", &qwen3_5::FAMILY, TEXT)];

/// `Qwen3_5TextConfig`.
const TEXT: Sizes = &[
    ("vocab_size", 248_320),
    ("hidden_size", 4096),
    ("intermediate_size", 12_288),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 16),
    ("linear_num_key_heads", 16),
    ("linear_num_value_heads", 32),
    ("linear_key_head_dim", 128),
    ("linear_value_head_dim", 128),
];

/// `Qwen3_5MoeTextConfig`.
const MIXTURE: Sizes = &[
    ("vocab_size", 248_320),
    ("hidden_size", 2048),
    ("num_hidden_layers", 40),
    ("num_attention_heads", 16),
    ("linear_num_key_heads", 16),
    ("linear_num_value_heads", 32),
    ("linear_key_head_dim", 128),
    ("linear_value_head_dim", 128),
];

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    decoder(config, TEXTS, [11, 11, 10], |_| vision(config, 248_056, patches))
}

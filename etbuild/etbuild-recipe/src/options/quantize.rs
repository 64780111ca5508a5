//! `quantize:`.

use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::FilePath;

/// How weights and activations are made smaller. Left out: nothing is quantized.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quantize {
    /// What is quantized, and to how many bits.
    pub scheme: Spanned<Scheme>,
    /// A safetensors file with example inputs, from which the ranges of activations are taken.
    #[serde(default)]
    pub calibrate: Option<FilePath>,
    /// How many neighbouring weights share one scale; a power of two.
    #[serde(default)]
    pub group_size: Option<Spanned<u32>>,
    /// How the embedding table is quantized; left out: it is not.
    #[serde(default)]
    pub embedding: Option<Spanned<Embedding>>,
}

/// A quantization scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
pub enum Scheme {
    /// Weights and activations to 8 bits, with ranges from calibration.
    #[serde(rename = "int8")]
    Int8,
    /// Weights to 8 bits, activations to 8 bits with ranges taken while running.
    #[serde(rename = "8da8w")]
    Dynamic8Weight8,
    /// Weights to 4 bits in groups, activations to 8 bits with ranges taken while running.
    #[serde(rename = "8da4w")]
    Dynamic8Weight4,
}

/// A quantization scheme of an embedding table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
pub enum Embedding {
    /// 4 bits in groups.
    #[serde(rename = "4w")]
    Weight4,
    /// 8 bits.
    #[serde(rename = "8w")]
    Weight8,
}

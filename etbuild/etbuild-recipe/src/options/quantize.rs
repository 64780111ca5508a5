//! `quantize:`.

use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{FilePath, Tolerance};

/// How weights and activations are made smaller. Left out: nothing is quantized.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quantize {
    /// What is quantized, and to how many bits.
    pub scheme: Spanned<Scheme>,
    /// A safetensors file with example inputs, from which the ranges of activations are taken; for a checkpoint, text in a file
    /// `.txt`, or tokens.
    #[serde(default)]
    pub calibrate: Option<FilePath>,
    /// How ranges are chosen from what calibration sees; `min-max` where left out.
    #[serde(default)]
    pub observer: Observer,
    /// The percentage of elements that the observer `percentile` keeps; 99.99 where left out.
    #[serde(default)]
    pub percentile: Option<Spanned<Tolerance>>,
    /// How many neighbouring weights share one scale; a power of two.
    #[serde(default)]
    pub group_size: Option<Spanned<u32>>,
    /// How the embedding table is quantized; left out: to 4 bits where a product of 4 bits reads it too, else not.
    #[serde(default)]
    pub embedding: Option<Spanned<Embedding>>,
    /// How weights are rounded; `nearest` where left out.
    #[serde(default)]
    pub method: Method,
    /// Whether what the layers of a checkpoint hand on is rotated, which spreads outliers; left out: it is not.
    #[serde(default)]
    pub rotate: Option<Spanned<Rotation>>,
    /// Exceptions, each with `name`, `operator` or both, and `scheme`; of those that match a layer the last one decides.
    #[serde(default)]
    pub layers: Vec<LayerScheme>,
    /// The least signal-to-noise ratio of a layer against the model as it was, in decibels; less is an error.
    #[serde(default)]
    pub min_sqnr: Option<Spanned<Tolerance>>,
    /// Labelled data on which the model is compared before and after. Left out: it is not.
    #[serde(default)]
    pub accuracy: Option<Accuracy>,
}

/// How good the model is before and after, by right answers. Both run on the portable kernels, before anything is built.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// A safetensors file with inputs, under their names in the model, and the right answers.
    pub data: FilePath,
    /// The tensor of right answers in that file: whole numbers; `labels` where left out.
    #[serde(default = "default_labels")]
    pub labels: String,
    /// What counts as right; `top1` where left out.
    #[serde(default)]
    pub metric: Metric,
    /// How much may be lost, in points: 0.5 allows 98.7 % instead of 99.2 %. More is an error; left out, it is only reported.
    #[serde(default)]
    pub max_loss: Option<Spanned<Tolerance>>,
}

/// What counts as a right answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
pub enum Metric {
    /// The first output is largest at the label.
    #[default]
    #[serde(rename = "top1")]
    Top1,
}

/// The tensor of right answers in a file of data.
pub fn default_labels() -> String {
    "labels".to_owned()
}

/// How the layers of a name, or the calls of an operator, are quantized.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayerScheme {
    /// The path of a module, such as `features.0.*`; `*` stands for any text.
    #[serde(default)]
    pub name: Option<Spanned<String>>,
    /// An operator, such as `linear`.
    #[serde(default)]
    pub operator: Option<Spanned<String>>,
    /// How they are quantized.
    pub scheme: Spanned<Scheme>,
}

impl LayerScheme {
    /// Where it is written.
    pub fn span(&self) -> &etbuild_diagnostic::Span {
        let pattern = self.name.as_ref().or(self.operator.as_ref());
        pattern.map_or(&self.scheme.span, |pattern| &pattern.span)
    }
}

/// A quantization scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
pub enum Scheme {
    /// None: for layers that stay as they are.
    #[serde(rename = "float")]
    Float,
    /// Weights and activations to 8 bits, with ranges from calibration.
    #[serde(rename = "int8")]
    Int8,
    /// Weights to 8 bits, activations to 8 bits with ranges taken while running.
    #[serde(rename = "dynamic-int8")]
    DynamicInt8,
    /// Weights to 8 bits.
    #[serde(rename = "int8-weights")]
    Int8Weights,
    /// Weights to 4 bits in groups.
    #[serde(rename = "int4-weights")]
    Int4Weights,
    /// Weights to 4 bits in groups, activations to 8 bits with ranges taken while running.
    #[serde(rename = "8da4w")]
    Dynamic8Weight4,
}

/// How ranges are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Observer {
    /// From the least to the greatest element.
    #[default]
    MinMax,
    /// Without the outermost elements.
    Percentile,
    /// With the least mean square error.
    Mse,
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

/// How weights are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Each to the nearest integer.
    #[default]
    Nearest,
    /// Those of linear layers one after the other, the error of each taken up by those behind it, as calibration data wants it.
    Gptq,
}

/// A rotation that weights take in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rotation {
    /// Walsh and Hadamard's matrix: as many ones as minus ones, nothing to learn.
    Hadamard,
}

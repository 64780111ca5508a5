//! `quantize:`.

use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{FilePath, Tolerance};

/// Quantization of weights and activations. If omitted, a checkpoint that stores integers has the scheme `stored` on the backend `cpu`, and any
/// other program stays in floating point.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quantize {
    /// The scheme: which tensors are quantized, and to how many bits.
    pub scheme: Spanned<Scheme>,
    /// Calibration data: a safetensors file with example inputs; for a checkpoint, text in a file `.txt`, or tokens.
    #[serde(default)]
    pub calibrate: Option<FilePath>,
    /// The observer that chooses ranges from calibration data; `min-max` if omitted.
    #[serde(default)]
    pub observer: Observer,
    /// The percentage of elements that the observer `percentile` keeps; 99.99 if omitted.
    #[serde(default)]
    pub percentile: Option<Spanned<Tolerance>>,
    /// The number of consecutive weights that share a scale (blockwise quantization); a power of two.
    #[serde(default)]
    pub group_size: Option<Spanned<u32>>,
    /// Quantization of the embedding table; default: int4 if an int4 GEMM shares the table, else none.
    #[serde(default)]
    pub embedding: Option<Spanned<Embedding>>,
    /// The rounding of weights; `nearest` if omitted.
    #[serde(default)]
    pub method: Method,
    /// Rotation of the activations between the layers of a checkpoint, which spreads outliers; default: none.
    #[serde(default)]
    pub rotate: Option<Spanned<Rotation>>,
    /// Exceptions, each with `name`, `operator` or both, and `scheme`; for a layer that several exceptions match, the
    /// last exception decides.
    #[serde(default)]
    pub layers: Vec<LayerScheme>,
    /// The least signal-to-noise ratio (SQNR) of a layer against the float model, in decibels; a lower ratio is an
    /// error.
    #[serde(default)]
    pub min_sqnr: Option<Spanned<Tolerance>>,
    /// Labelled data for the accuracy before and after quantization. If omitted, the accuracy is not measured.
    #[serde(default)]
    pub accuracy: Option<Accuracy>,
}

impl Quantize {
    /// Quantization by a scheme, with the defaults of the other keys.
    pub fn by(scheme: Spanned<Scheme>) -> Self {
        Self {
            scheme,
            calibrate: None,
            observer: Observer::default(),
            percentile: None,
            group_size: None,
            embedding: None,
            method: Method::default(),
            rotate: None,
            layers: Vec::new(),
            min_sqnr: None,
            accuracy: None,
        }
    }
}

/// The accuracy before and after quantization. Both programs run on the portable kernels before the build.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// A safetensors file with inputs, by name in the model, and the correct labels.
    pub data: FilePath,
    /// The tensor of correct labels in that file, whole numbers; `labels` if omitted.
    #[serde(default = "default_labels")]
    pub labels: String,
    /// The metric of a correct prediction; `top1` if omitted.
    #[serde(default)]
    pub metric: Metric,
    /// The largest loss of accuracy, in points: 0.5 allows 98.7 % instead of 99.2 %. A larger loss is an error; if
    /// omitted, the loss is only reported.
    #[serde(default)]
    pub max_loss: Option<Spanned<Tolerance>>,
}

/// The metric of a correct prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
pub enum Metric {
    /// The argmax of the first output equals the label.
    #[default]
    #[serde(rename = "top1")]
    Top1,
}

/// The tensor of correct labels in a file.
pub fn default_labels() -> String {
    "labels".to_owned()
}

/// The quantization scheme of the layers with a name, or of the calls of an operator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayerScheme {
    /// The path of a module, such as `features.0.*`; `*` matches any text.
    #[serde(default)]
    pub name: Option<Spanned<String>>,
    /// An operator, such as `linear`.
    #[serde(default)]
    pub operator: Option<Spanned<String>>,
    /// The scheme of the matching layers.
    pub scheme: Spanned<Scheme>,
}

impl LayerScheme {
    /// The span of the exception.
    pub fn span(&self) -> &etbuild_diagnostic::Span {
        let pattern = self.name.as_ref().or(self.operator.as_ref());
        pattern.map_or(&self.scheme.span, |pattern| &pattern.span)
    }
}

/// A quantization scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
pub enum Scheme {
    /// No quantization.
    #[serde(rename = "float")]
    Float,
    /// The integers that a checkpoint stores stay (GGUF, GPTQ, AWQ, MLX), and their activations are quantized to int8 at run time, in blocks of 32 or of the weights;
    /// other weights stay float.
    #[serde(rename = "stored")]
    Stored,
    /// int8 weights and activations (per-channel weights, static ranges from calibration).
    #[serde(rename = "int8")]
    Int8,
    /// int8 weights, and activations quantized to int8 at run time (dynamic quantization).
    #[serde(rename = "dynamic-int8")]
    DynamicInt8,
    /// int8 weights, float activations (weight-only quantization).
    #[serde(rename = "int8-weights")]
    Int8Weights,
    /// int4 weights in groups, float activations (weight-only, blockwise).
    #[serde(rename = "int4-weights")]
    Int4Weights,
    /// int4 weights in groups, and activations quantized to int8 at run time, per token.
    #[serde(rename = "8da4w")]
    Dynamic8Weight4,
    /// Every operator in integers, for NPUs: int8 weights per channel, int8 activations (static ranges from calibration).
    #[serde(rename = "w8a8")]
    W8A8,
    /// As `w8a8`, with int16 activations.
    #[serde(rename = "w8a16")]
    W8A16,
    /// As `w8a16`, with int4 weights of linear layers: per channel, or in groups of `group_size` (LPBQ).
    #[serde(rename = "w4a16")]
    W4A16,
    /// Every operator in integers, for microcontrollers: int8 weights per channel, symmetric int16 activations (static ranges from
    /// calibration); TensorFlow Lite's 16x8.
    #[serde(rename = "int16x8")]
    Int16x8,
    /// As `int8`, with int4 weights per channel but for grouped convolutions, for microcontrollers.
    #[serde(rename = "int8x4")]
    Int8x4,
}

/// The observer of activations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Observer {
    /// From the minimum to the maximum.
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
    /// int4 in groups.
    #[serde(rename = "4w")]
    Weight4,
    /// int8, per row.
    #[serde(rename = "8w")]
    Weight8,
}

/// The rounding of weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Round to nearest.
    #[default]
    Nearest,
    /// Quantizes the linear layers in order and compensates the rounding error of each weight in the remaining
    /// weights of the layer, from calibration data.
    Gptq,
}

/// A rotation, folded into the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rotation {
    /// A Hadamard matrix, without training.
    Hadamard,
}

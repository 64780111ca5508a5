//! Errors of quantization.

use etbuild_ir::{Interruption, Violation};

/// Errors of quantization.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QuantizeError {
    /// A static scheme without samples.
    #[error("the activations of `{method}` need calibration data for their ranges")]
    NoSamples {
        /// The method.
        method: String,
    },
    /// An input without samples.
    #[error("the calibration data has no tensor `{name}`")]
    MissingInput {
        /// The name of the input.
        name: String,
        /// The tensors of the calibration data.
        found: Vec<String>,
    },
    /// Samples of another type or shape.
    #[error("tensor `{name}` of the calibration data is {found}, but the model expects {wanted}")]
    OtherShape {
        /// The name of the input.
        name: String,
        /// Type and shape in the data.
        found: String,
        /// Type and shape in the model.
        wanted: String,
    },
    /// Inputs with different numbers of samples.
    #[error("tensor `{name}` of the calibration data has {found} samples, but another tensor has {wanted}")]
    OtherCount {
        /// The name of the input.
        name: String,
        /// The number of samples of the input.
        found: usize,
        /// The number of samples of earlier inputs.
        wanted: usize,
    },
    /// The number of labels differs from the number of predictions.
    #[error("{found} labels do not match {wanted} predictions of the model")]
    OtherLabels {
        /// The number of labels.
        found: usize,
        /// The number of rows of the first output.
        wanted: usize,
    },
    /// A first output without classes.
    #[error("the first output of the model is not a `float32` tensor with a row of classes per sample")]
    NoAnswer,
    /// An exception that matches no layer.
    #[error("{what} matches no layer of the model")]
    Unmatched {
        /// The position of the layer in [`crate::Options::layers`].
        layer: usize,
        /// The text of the exception.
        what: String,
        /// Some names that would match.
        known: Vec<String>,
    },
    /// A method with control flow or computed sizes.
    #[error("`{0}` has control flow or computed sizes, so ranges of its activations cannot be measured")]
    NotStatic(String),
    /// A kernel failed.
    #[error("the model cannot be run on the calibration data: {0}")]
    Interrupted(#[from] Interruption),
    /// A tensor without finite elements.
    #[error("`{0}` is never finite on the calibration data")]
    NotFinite(String),
    /// A tensor of a method that the measured method lacks.
    #[error("the range of `{0}` was not measured")]
    Unmeasured(String),
    /// The quantized program is invalid: a fault of this crate.
    #[error("the quantized program is invalid")]
    Invalid(Vec<Violation>),
}

//! Why a program is not quantized.

use etbuild_ir::{Interruption, Violation};

/// Why a program is not quantized.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QuantizeError {
    /// A static scheme, and no samples.
    #[error("`{method}` has activations to quantize, and there is no calibration data to take their ranges from")]
    NoSamples {
        /// The method.
        method: String,
    },
    /// The samples lack an input.
    #[error("the calibration data has no tensor `{name}`")]
    MissingInput {
        /// The input.
        name: String,
        /// The tensors that there are.
        found: Vec<String>,
    },
    /// Samples of another type or shape.
    #[error("`{name}` of the calibration data is {found}, the model takes {wanted}")]
    OtherShape {
        /// The input.
        name: String,
        /// Type and shape in the data.
        found: String,
        /// Type and shape in the model.
        wanted: String,
    },
    /// Inputs with different numbers of samples.
    #[error("`{name}` of the calibration data has {found} samples, another tensor has {wanted}")]
    OtherCount {
        /// The input.
        name: String,
        /// The number of its samples.
        found: usize,
        /// The number of those of the others.
        wanted: usize,
    },
    /// Labels that are not those of the samples.
    #[error("there are {found} labels for {wanted} answers of the model")]
    OtherLabels {
        /// The number of labels.
        found: usize,
        /// The number of rows of the first output.
        wanted: usize,
    },
    /// A first output in which no class can be found.
    #[error("the model's first output is no `float32` tensor with a row of classes for each case")]
    NoAnswer,
    /// Layers that are named and do not exist.
    #[error("{what} matches no layer of the model")]
    Unmatched {
        /// The position of the layer in [`crate::Options::layers`].
        layer: usize,
        /// What it says.
        what: String,
        /// Some names that would match.
        known: Vec<String>,
    },
    /// A method that jumps, or computes sizes: it cannot be run to measure it.
    #[error("`{0}` has control flow or computed sizes, so ranges of its activations cannot be measured")]
    NotStatic(String),
    /// A kernel failed.
    #[error("the model cannot be run on the calibration data: {0}")]
    Interrupted(#[from] Interruption),
    /// A tensor that no sample gives a finite number of.
    #[error("`{0}` is never finite on the calibration data")]
    NotFinite(String),
    /// The verifier refuses what the conversion made.
    #[error("the quantized program is invalid")]
    Invalid(Vec<Violation>),
}

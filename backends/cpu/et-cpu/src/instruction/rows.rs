//! What is done to rows: quantizing at run time, products with weights of few bits, softmax and normalization.

use super::activation::Activation;
use super::operand::{Groups, Numbers, Place, Rows};
use crate::record::{SlotNumber, records};

records! {
    /// Rows of numbers as bytes, with a scale and a zero point for each that are found at run time.
    pub struct QuantizeRows {
        /// The rows, dense.
        pub input: Place,
        /// The bytes.
        pub output: Place,
        /// Two words for each row: its scale and its zero point.
        pub row_scales: Place,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
        /// 1 where all rows have the same scale and zero point.
        pub together: u32,
    }

    /// The numbers that [`QuantizeRows`] made bytes of.
    pub struct DequantizeRows {
        /// The bytes.
        pub input: Place,
        /// Two words for each row: its scale and its zero point.
        pub row_scales: Place,
        /// The numbers.
        pub output: Place,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
    }

    /// `output = activation(rows x weights + bias)` for rows that [`QuantizeRows`] made and packed weights of half a byte.
    pub struct GroupedProduct {
        /// The rows, bytes.
        pub input: Place,
        /// Two words for each row: its scale and its zero point.
        pub row_scales: Place,
        /// The results.
        pub output: Rows,
        /// The slot of the packed weights.
        pub weights: SlotNumber,
        /// Rows, elements of a row, columns of the result.
        pub sizes: [u32; 3],
        /// How the weights are packed.
        pub groups: Groups,
        /// The activation.
        pub activation: Activation,
    }

    /// `output = activation(rows x weights + bias)` for rows of numbers and packed weights of a byte or half a byte.
    pub struct WideProduct {
        /// The rows, dense.
        pub input: Place,
        /// The results.
        pub output: Rows,
        /// The slot of the packed weights.
        pub weights: SlotNumber,
        /// Rows, elements of a row, columns of the result.
        pub sizes: [u32; 3],
        /// How the weights are packed, where they are half bytes.
        pub groups: Groups,
        /// The activation.
        pub activation: Activation,
    }

    /// Means over the middle of three dimensions.
    pub struct Mean {
        /// `[outer, reduced, inner]`.
        pub input: Place,
        /// What it stands for.
        pub from: Numbers,
        /// `[outer, inner]`.
        pub output: Place,
        /// What it stands for: either both are `float32`, or none.
        pub to: Numbers,
        /// The dimensions.
        pub sizes: [u32; 3],
    }

    /// Softmax of each row.
    pub struct Softmax {
        /// The rows.
        pub input: Rows,
        /// The results.
        pub output: Rows,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
    }

    /// Normalization of each row.
    pub struct Normalize {
        /// The rows.
        pub input: Rows,
        /// The results.
        pub output: Rows,
        /// The slot of the factors, or none.
        pub weight: SlotNumber,
        /// The slot of the summands, or none.
        pub bias: SlotNumber,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
        /// Added to the mean square.
        pub epsilon: f32,
        /// 1 where the mean is subtracted first (layer normalization), 0 where not (root mean square).
        pub centered: u32,
    }
}

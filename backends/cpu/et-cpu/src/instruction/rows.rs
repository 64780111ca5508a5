//! Operators on matrix rows: dynamic quantization, means, softmax and normalization.

use et_record::{Write, records};

use super::operand::{Place, QParams, Rows};
use crate::record::SlotNumber;

records! {
    /// The greatest or least elements of each row, in order, and their indices in int64.
    pub struct TopK {
        /// The contiguous f32 input tensor.
        pub input: Place,
        /// The elements.
        pub values: Write<Place>,
        /// The indices.
        pub indices: Write<Place>,
        /// Rows, and elements of a row.
        pub sizes: [u32; 2],
        /// The elements wanted of each row.
        pub count: u32,
        /// Whether the greatest are wanted, instead of the least.
        pub is_largest: bool,
    }

    /// The greatest elements of each row by corrected elements, from the best of groups of neighbours, and their indices in int64.
    pub struct TopKWithin {
        /// The elements, and the results, which are not corrected.
        pub rows: TopK,
        /// The numbers that are added to the elements of a row, or absent.
        pub biases: Place,
        /// The groups of a row.
        pub groups: u32,
        /// The groups that elements are chosen from.
        pub kept: u32,
        /// The greatest elements of a group whose sum says how good the group is.
        pub judged: u32,
    }

    /// Dynamic quantization of f32 rows to int8, with per-row qparams. A row is a token, or a block of one.
    pub struct QuantizeRows {
        /// The contiguous f32 rows.
        pub input: Place,
        /// The int8 rows.
        pub output: Write<Place>,
        /// Two words per row: the scale and the zero point.
        pub row_scales: Write<Place>,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
        /// Per-tensor qparams: all rows have the same scale and zero point.
        pub together: bool,
        /// Whether zero points are 0.
        pub is_symmetric: bool,
    }

    /// Dequantizes the int8 rows of [`QuantizeRows`] to f32.
    pub struct DequantizeRows {
        /// The int8 rows.
        pub input: Place,
        /// Two words per row: the scale and the zero point.
        pub row_scales: Place,
        /// The f32 rows.
        pub output: Write<Place>,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
    }

    /// The mean over the middle dimension of a three-dimensional tensor.
    pub struct Mean {
        /// The input tensor `[outer, reduced, inner]`.
        pub input: Place,
        /// The dtype and qparams of the input tensor.
        pub from: QParams,
        /// The output tensor `[outer, inner]`.
        pub output: Write<Place>,
        /// The dtype and qparams of the output tensor; both tensors are f32, or both are int8.
        pub to: QParams,
        /// The shape of the input tensor.
        pub sizes: [u32; 3],
    }

    /// Softmax of each row.
    pub struct Softmax {
        /// The contiguous input matrix.
        pub input: Rows,
        /// The contiguous output matrix.
        pub output: Write<Rows>,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
    }

    /// LayerNorm or RMSNorm of each row.
    pub struct Normalize {
        /// The input matrix.
        pub input: Rows,
        /// The output matrix.
        pub output: Write<Rows>,
        /// The slot of the per-channel weight, or no slot.
        pub weight: SlotNumber,
        /// The slot of the per-channel bias, or no slot.
        pub bias: SlotNumber,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
        /// Epsilon, added to the variance or mean square.
        pub epsilon: f32,
        /// LayerNorm, which subtracts the mean, instead of RMSNorm.
        pub centered: bool,
    }
}

impl Mean {
    /// The cargo feature that compiles the kernel of the element type; `None` for the f32 kernel, which every build has.
    pub fn feature(&self) -> Option<&'static str> {
        // The int8 mean is average pooling with a window of the image's shape.
        self.from.is_int8().then_some("byte-pools")
    }
}

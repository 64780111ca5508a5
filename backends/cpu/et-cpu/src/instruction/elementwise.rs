//! Strided copies and fused element-wise operators.

use et_record::{Write, records};

use super::operand::{Place, QParams};
use crate::record::Opcode;

records! {
    /// Copies a tensor to other strides (permute, slice, concatenate).
    pub struct Copy {
        /// The first element of the input tensor.
        pub input: Place,
        /// The first element of the output tensor.
        pub output: Write<Place>,
        /// Bytes of an element (the size of the dtype).
        pub width: u32,
        /// Used entries of `sizes` and of the strides.
        pub rank: u32,
        /// The shape of the tensor.
        pub sizes: [u32; 8],
        /// Strides of the input tensor, in elements.
        pub input_strides: [u32; 8],
        /// Strides of the output tensor, in elements.
        pub output_strides: [u32; 8],
    }

    /// A tensor operand of [`Elementwise`] with four strides; stride 0 broadcasts a dimension.
    pub struct Stream {
        /// The first element of the tensor.
        pub place: Place,
        /// Strides, outermost dimension first; the last stride is 0 or 1 for f32, and 1 for int8.
        pub strides: [u32; 4],
        /// The dtype and qparams of the tensor.
        pub qparams: QParams,
    }

    /// An operand of a [`Step`].
    pub struct Term {
        /// 0 for a register, 1 for a constant.
        pub kind: u32,
        /// The register's number, or the bits of the f32 constant.
        pub bits: u32,
    }

    /// An operator of [`Elementwise`]: registers `0..stream_count` are the tensor operands, each step defines the next register.
    pub struct Step {
        /// The operation.
        pub operation: Opcode,
        /// The operands.
        pub terms: [Term; 3],
    }

    /// A fused chain of element-wise operators over four dimensions; the last register is the output.
    pub struct Elementwise {
        /// The contiguous output tensor.
        pub output: Write<Place>,
        /// The dtype and qparams of the output tensor.
        pub qparams: QParams,
        /// The shape of the output tensor, outermost dimension first.
        pub sizes: [u32; 4],
        /// Used entries of `streams`.
        pub stream_count: u32,
        /// Used entries of `steps`.
        pub step_count: u32,
        /// The tensor operands.
        pub streams: [Stream; 6],
        /// The operators.
        pub steps: [Step; 12],
    }
}

impl Term {
    /// A register operand.
    pub const fn register(index: usize) -> Self {
        Self { kind: 0, bits: index as u32 }
    }

    /// A constant operand.
    pub const fn number(number: f32) -> Self {
        Self { kind: 1, bits: number.to_bits() }
    }
}

impl Copy {
    /// The cargo feature that compiles the kernel of the element width; `None` for 4 bytes, which every build has.
    pub fn feature(&self) -> Option<&'static str> {
        match self.width {
            1 => Some("byte-copies"),
            2 | 8 => Some("wide-copies"),
            _ => None,
        }
    }
}

//! Copies, and chains of functions of single elements.

use super::operand::{Numbers, Place};
use crate::record::records;

records! {
    /// Copies elements from one order to another.
    pub struct Copy {
        /// The first element read.
        pub input: Place,
        /// The first element written.
        pub output: Place,
        /// Bytes of an element.
        pub width: u32,
        /// Used dimensions of what follows.
        pub rank: u32,
        /// Sizes.
        pub sizes: [u32; 8],
        /// Elements between neighbours in the input.
        pub input_strides: [u32; 8],
        /// Elements between neighbours in the output.
        pub output_strides: [u32; 8],
    }

    /// An operand of [`Elementwise`]: an element is found by the strides of four dimensions, 0 where it is shared.
    pub struct Stream {
        /// The first element.
        pub place: Place,
        /// Elements between neighbours, outermost dimension first; the last is 0 or 1, and 1 for bytes.
        pub strides: [u32; 4],
        /// What elements stand for.
        pub numbers: Numbers,
    }

    /// An operand of a [`Step`].
    pub struct Term {
        /// 0 for a register, 1 for a number.
        pub kind: u32,
        /// The register, or the bits of the number.
        pub bits: u32,
    }

    /// A step of [`Elementwise`]: registers `0..stream_count` are the operands, each step makes the next one.
    pub struct Step {
        /// The number of an [`Operation`](et_kernels::elementwise::Operation).
        pub operation: u32,
        /// The operands.
        pub terms: [Term; 3],
    }

    /// A chain of element-wise functions over four dimensions; the last register is the result.
    pub struct Elementwise {
        /// The result, dense.
        pub output: Place,
        /// What it stands for.
        pub numbers: Numbers,
        /// Sizes, outermost first.
        pub sizes: [u32; 4],
        /// Used entries of what follows.
        pub stream_count: u32,
        /// Used entries of what follows.
        pub step_count: u32,
        /// The operands.
        pub streams: [Stream; 6],
        /// The steps.
        pub steps: [Step; 12],
    }
}

impl Term {
    /// A register.
    pub const fn register(index: usize) -> Self {
        Self { kind: 0, bits: index as u32 }
    }

    /// A number.
    pub const fn number(number: f32) -> Self {
        Self { kind: 1, bits: number.to_bits() }
    }
}

//! The instruction set of a delegate blob. Activation tensors are NHWC unless noted; counts are in elements, offsets in bytes.

mod activation;
mod attention;
mod elementwise;
mod operand;
mod rows;
mod text;
mod window;

use crate::record::{Record, Words};
pub use activation::{Activation, ActivationKind};
pub use attention::{Attention, BatchMatmul, Heads, Matrices};
pub use elementwise::{Copy, Elementwise, Step, Stream, Term};
pub use operand::{Groups, Numbers, Place, Rows};
pub use rows::{DequantizeRows, GroupedProduct, Mean, Normalize, QuantizeRows, Softmax, WideProduct};
pub use text::{AttendCache, Gather, GatherColumns, Piece, Rotate};
pub use window::{BackToBack, Depthwise, Pool, Product, QuantizedDepthwise, QuantizedProduct, Window};

/// Declares the instructions with their opcodes and the cargo features that compile their kernels.
macro_rules! instructions {
    ($($number:literal => $name:ident $(if $feature:literal)?,)*) => {
        /// An instruction of a delegate blob.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs, reason = "the records say what they are")]
        #[allow(clippy::large_enum_variant, reason = "one is read at a time")]
        pub enum Instruction { $($name($name),)* }

        impl Record for Instruction {
            fn read(words: &mut Words<'_>) -> Option<Self> {
                let (number, length) = (words.word()?, words.word()?);
                let mut fields = words.take(length as usize)?;
                let read = match number {
                    $($number => Self::$name($name::read(&mut fields)?),)*
                    _ => return None,
                };
                fields.is_empty().then_some(read)
            }

            fn write(&self, put: &mut dyn FnMut(u32)) {
                let number = match self { $(Self::$name(_) => $number,)* };
                let mut length = 0;
                self.write_fields(&mut |_| length += 1);
                put(number);
                put(length);
                self.write_fields(put);
            }

            fn visit_slots(&self, visit: &mut dyn FnMut(u32)) {
                match self { $(Self::$name(fields) => fields.visit_slots(visit),)* }
            }
        }

        impl Instruction {
            /// The cargo feature that compiles the instruction's kernel; `None` for kernels in every build.
            pub const fn feature(&self) -> Option<&'static str> {
                match self { $(Self::$name(_) => $name::FEATURE,)* }
            }

            /// Whether this build has the instruction's kernel.
            pub const fn is_compiled(&self) -> bool {
                match self { $(Self::$name(_) => $name::IS_COMPILED,)* }
            }

            fn write_fields(&self, put: &mut dyn FnMut(u32)) {
                match self { $(Self::$name(fields) => fields.write(put),)* }
            }
        }

        $(impl $name {
            const FEATURE: Option<&'static str> = [$(Some($feature),)? None][0];
            /// Whether this build has the instruction's kernel.
            pub const IS_COMPILED: bool = true $(&& cfg!(feature = $feature))?;
        })*

        $(impl From<$name> for Instruction {
            fn from(fields: $name) -> Self {
                Self::$name(fields)
            }
        })*
    };
}

instructions! {
    1 => Product if "float-products",
    2 => Depthwise if "depthwise",
    3 => Pool if "pools",
    4 => Mean,
    5 => Copy,
    6 => Softmax,
    7 => Normalize,
    8 => Attention if "attention",
    9 => BatchMatmul,
    10 => Gather,
    11 => Elementwise,
    12 => QuantizedProduct if "byte-products",
    13 => QuantizedDepthwise if "byte-depthwise",
    14 => QuantizeRows if "byte-products",
    15 => DequantizeRows,
    16 => GroupedProduct if "grouped-products",
    17 => Rotate if "cached-attention",
    18 => AttendCache if "cached-attention",
    19 => GatherColumns,
    20 => WideProduct if "wide-products",
    21 => BackToBack if "float-products",
}

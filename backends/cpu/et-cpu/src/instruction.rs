//! What a blob tells the engine to do. Activations lie with channels innermost; counts are in elements, offsets in bytes.

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

/// Declares the instructions with their numbers.
macro_rules! instructions {
    ($($number:literal => $name:ident,)*) => {
        /// An instruction of a blob.
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
            fn write_fields(&self, put: &mut dyn FnMut(u32)) {
                match self { $(Self::$name(fields) => fields.write(put),)* }
            }
        }

        $(impl From<$name> for Instruction {
            fn from(fields: $name) -> Self {
                Self::$name(fields)
            }
        })*
    };
}

instructions! {
    1 => Product,
    2 => Depthwise,
    3 => Pool,
    4 => Mean,
    5 => Copy,
    6 => Softmax,
    7 => Normalize,
    8 => Attention,
    9 => BatchMatmul,
    10 => Gather,
    11 => Elementwise,
    12 => QuantizedProduct,
    13 => QuantizedDepthwise,
    14 => QuantizeRows,
    15 => DequantizeRows,
    16 => GroupedProduct,
    17 => Rotate,
    18 => AttendCache,
    19 => GatherColumns,
    20 => WideProduct,
    21 => BackToBack,
}

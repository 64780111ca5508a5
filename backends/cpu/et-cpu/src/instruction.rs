//! The instruction set of a delegate blob. Activation tensors are NHWC unless noted; counts are in elements, offsets in bytes.

mod attention;
mod col2im;
mod conv2d;
mod elementwise;
mod embedding_bag;
mod experts;
mod operand;
mod recurrence;
mod recurrent;
mod rows;
mod text;

use et_record::{Access, Operand, Record, Text, Words};

pub use attention::{Attention, BatchMatmul, Strided};
pub use col2im::{Axis, Col2im};
pub use conv2d::{Activation, ActivationKind, Conv2d, Depthwise, Epilogue, FusedMlp, Gemm, Pool, PoolKind, Window};
pub use elementwise::{Copy, Elementwise, Step, Stream, Term};
pub use embedding_bag::{BagReduction, EmbeddingBag};
pub use experts::ExpertGemm;
pub use operand::{BlockScales, Place, QParams, RowScales, Rows, Weights};
pub use recurrence::{ConvCache, Recurrence};
pub use recurrent::{RecurrentCell, RecurrentLayer, SequenceStrides};
pub use rows::{DequantizeRows, Mean, Normalize, QuantizeRows, Softmax, TopK, TopKWithin};
pub use text::{
    AttendBlock, AttendCache, AttendSegments, CacheType, Gather, GatherColumns, Piece, RotaryPairing, Rotate,
};

/// Declares the instructions with their opcodes and the cargo features that compile their kernels: a feature, or a function of the
/// fields where the operand types select the kernel.
macro_rules! instructions {
    ($($number:literal => $name:ident $(if $feature:literal)? $(by $feature_of:path)?,)*) => {
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

            #[inline]
            fn write(&self, put: &mut dyn FnMut(u32)) {
                let number = match self { $(Self::$name(_) => $number,)* };
                let mut length = 0;
                self.write_fields(&mut |_| length += 1);
                put(number);
                put(length);
                self.write_fields(put);
            }

            #[inline]
            fn visit(&mut self, visit: &mut dyn FnMut(Operand<'_>)) {
                match self { $(Self::$name(fields) => fields.visit(visit),)* }
            }

            #[inline]
            fn show(&self, text: &mut dyn Text) {
                match self { $(Self::$name(fields) => fields.show(text),)* }
            }
        }

        impl Instruction {
            /// The cargo feature that compiles the instruction's kernel; `None` for kernels in every build.
            pub fn feature(&self) -> Option<&'static str> {
                match self {
                    $(Self::$name(_fields) => None$(.or(Some($feature)))?$(.or($feature_of(_fields)))?,)*
                }
            }

            /// The name of the instruction's record.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$name(_) => stringify!($name),)* }
            }

            /// Visits the numbers of the operand slots.
            pub fn visit_slots(&self, visit: &mut dyn FnMut(u32, Access)) {
                { *self }.visit(&mut |operand| visit(*operand.memory, operand.access));
            }

            /// Whether this build has the instruction's kernel.
            pub fn is_compiled(&self) -> bool {
                self.feature().is_none_or(|feature| FEATURES.contains(&(feature, true)))
            }

            #[inline]
            fn write_fields(&self, put: &mut dyn FnMut(u32)) {
                match self { $(Self::$name(fields) => fields.write(put),)* }
            }
        }

        $(impl $name {
            /// Whether this build has a kernel of the instruction.
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
    1 => Conv2d by Conv2d::feature,
    2 => Depthwise by Depthwise::feature,
    3 => Pool by Pool::feature,
    4 => Mean by Mean::feature,
    5 => Copy by Copy::feature,
    6 => Softmax if "normalization",
    7 => Normalize if "normalization",
    8 => Attention if "attention",
    9 => BatchMatmul,
    10 => Gather if "gather",
    11 => Elementwise if "elementwise",
    12 => QuantizeRows if "byte-products",
    13 => DequantizeRows,
    14 => Rotate if "cached-attention",
    15 => AttendCache if "cached-attention",
    16 => GatherColumns if "gather",
    17 => FusedMlp if "fused-mlp",
    18 => AttendBlock if "cached-attention",
    19 => AttendSegments if "attention",
    20 => ExpertGemm if "experts",
    21 => TopK if "topk",
    22 => TopKWithin if "topk",
    23 => Recurrence if "recurrence",
    24 => ConvCache if "recurrence",
    25 => Col2im if "col2im",
    26 => RecurrentLayer if "recurrent-layers",
    27 => EmbeddingBag if "gather",
}

/// The cargo features of kernels, and whether this build has each.
const FEATURES: [(&str, bool); 21] = [
    ("float-products", cfg!(feature = "float-products")),
    ("byte-products", cfg!(feature = "byte-products")),
    ("wide-products", cfg!(feature = "wide-products")),
    ("grouped-products", cfg!(feature = "grouped-products")),
    ("depthwise", cfg!(feature = "depthwise")),
    ("byte-depthwise", cfg!(feature = "byte-depthwise")),
    ("pools", cfg!(feature = "pools")),
    ("byte-pools", cfg!(feature = "byte-pools")),
    ("elementwise", cfg!(feature = "elementwise")),
    ("normalization", cfg!(feature = "normalization")),
    ("gather", cfg!(feature = "gather")),
    ("experts", cfg!(feature = "experts")),
    ("fused-mlp", cfg!(feature = "fused-mlp")),
    ("topk", cfg!(feature = "topk")),
    ("byte-copies", cfg!(feature = "byte-copies")),
    ("wide-copies", cfg!(feature = "wide-copies")),
    ("attention", cfg!(feature = "attention")),
    ("cached-attention", cfg!(feature = "cached-attention")),
    ("recurrence", cfg!(feature = "recurrence")),
    ("recurrent-layers", cfg!(feature = "recurrent-layers")),
    ("col2im", cfg!(feature = "col2im")),
];

//! Executes partitions on processors with vector instructions: one blob is one call, whatever the number of operators in it.
//!
//! A blob names its instruction set, memory and instructions ([`Blob`]); weights lie in it as kernels read them. Nothing is
//! allocated, and nothing is copied when it is loaded.
#![no_std]

mod blob;
mod delegate;
mod instruction;
mod memory;
pub mod record;
mod run;
mod shape;
mod split;
mod variants;

pub use blob::{ALIGNMENT, Blob, Header, MAGIC, Slot, SlotKind, VERSION};
pub use delegate::{ID, delegate, telling_delegate};
pub use instruction::{
    Activation, ActivationKind, AttendCache, Attention, BackToBack, BatchMatmul, Copy, Depthwise, DequantizeRows,
    Elementwise, Gather, GatherColumns, GroupedProduct, Groups, Heads, Instruction, Matrices, Mean, Normalize, Numbers,
    Piece, Place, Pool, Product, QuantizeRows, QuantizedDepthwise, QuantizedProduct, Rotate, Rows, Softmax, Step,
    Stream, Term, WideProduct, Window,
};
pub use record::SlotNumber;
pub use run::workspace;
pub use shape::{byte_isa, isa, isa_number, shape};
pub use variants::{VARIANTS_MAGIC, Variant, best, variants};

//! The CPU delegate: executes a partition as one delegate call, whatever the number of fused operators.
//!
//! A delegate blob names the processor architecture, the memory plan and the instructions ([`Blob`]); its weights are packed as
//! the micro-kernels of all ISAs of the architecture read panels. Loading a blob selects the best ISA of this CPU, allocates no
//! memory and copies no weights.
#![no_std]

mod blob;
mod instruction;
mod memory;
mod record;
mod run;
mod sizes;
mod split;

pub use blob::{ALIGNMENT, Blob, Header, MAGIC, Slot, SlotKind, VERSION};
pub use et_record::{Access, Write};
pub use instruction::{
    Activation, ActivationKind, AttendBlock, AttendCache, AttendSegments, Attention, Axis, BagReduction, BatchMatmul,
    BlockScales, CacheType, Col2im, Conv2d, ConvCache, Copy, Depthwise, DequantizeRows, Elementwise, EmbeddingBag,
    Epilogue, ExpertGemm, FusedMlp, Gather, GatherColumns, Gemm, Instruction, Mean, Normalize, Piece, Place, Pool,
    PoolKind, QParams, QuantizeRows, Recurrence, RecurrentCell, RecurrentLayer, RotaryPairing, Rotate, RowScales, Rows,
    SequenceStrides, Softmax, Step, Stream, Strided, Term, TopK, TopKWithin, Weights, Window,
};
pub use memory::Memory;
pub use record::{Opcode, SlotNumber};
pub use run::{ID, delegate, delegate_of, observed_delegate, reporting_delegate, workspace};
pub use sizes::{Formula, MOST_QUANTITIES, OutputShape, Quantity, SizeTerm, Variable};

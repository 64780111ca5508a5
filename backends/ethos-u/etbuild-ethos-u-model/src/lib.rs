//! A functional model of Arm's Ethos-U NPUs: executes a command stream in memory, as Ethos-U55, U65 or U85 would.
//!
//! The model reads the words of the stream, keeps the state of the registers, and computes each operation on whole feature maps, in order.
//! Results are the integers of the NPU; time, blocks and the order of overlapping accesses are not modelled. Facts about commands, registers and
//! the coding of weights are those of Arm's compiler Vela, whose sources are public.
//!
//! [`execute`] runs a stream on [`Memory`]. Every error is a [`Fault`] with the offset of the command; no stream makes the model panic.

mod command;
mod execute;
mod fault;
mod feature_map;
mod kernel;
mod machine;
mod memory;
mod npu;
mod operation;
mod output;
mod registers;
mod rounding;
mod scales;
mod table;
mod volume;
mod weights;

pub use execute::{Executed, execute};
pub use fault::{Fault, Problem};
pub use memory::Memory;
pub use npu::{Npu, Series};
pub use weights::decode as decode_weights;

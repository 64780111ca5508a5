//! The NPU backend on the host: lowers partitions to graphs of Qualcomm's compiler, which makes context binaries of them.
//!
//! Quantized operators become integer operations: the quantization of a result is the encoding of the tensor that the operation
//! writes, and dequantization is nothing. Operators that are not quantized compute in fp16. Images are stored with channels last.

mod backend;
mod builder;
mod bytes;
mod compile;
mod encoding;
mod groups;
mod lower;
mod partition;
mod parts;
mod program;
mod simulate;
mod worker;

pub use backend::{BACKEND, Qnn, program_text};
pub use simulate::{ID as SIMULATION_ID, SIMULATED, delegate};
pub use worker::worker;

/// The name of the backend in recipes.
const NAME: &str = "qnn";

//! The Ethos-U delegate for microcontrollers: runs a partition on the NPU beside the processor, without a heap.
//!
//! A [`Blob`] holds the command stream and the weights of Arm's compiler, both read in place, in flash. A delegate call copies its inputs
//! to the scratch memory, lets the NPU run the command stream ([`driver`]), and copies the outputs back. [`Npu`] is the board's side:
//! registers at an address, the maintenance of a data cache, and a way to wait.
#![no_std]

#[cfg(test)]
extern crate std;

mod blob;
mod delegate;
pub mod driver;
mod memory;
mod npu;

pub use blob::{ALIGNMENT, Blob, Header, MAGIC, Port, VERSION};
pub use delegate::{Engine, Execute, ID, delegate};
pub use npu::{Mapped, Npu};

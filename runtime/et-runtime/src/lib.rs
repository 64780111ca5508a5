//! Executes ExecuTorch program files in place: no heap, no registry, every failure a value.
//!
//! A [`Program`] is a file in memory; a [`MethodPlan`] states the memory requirements of a method; [`Method::load`]
//! takes that memory, a kernel per operator and a delegate per blob, and builds the value table; [`Method::execute`]
//! runs the instructions. The runtime never allocates, and copies only the initial values of mutable buffers from the
//! file.
//!
//! ```
//! use et_runtime::Program;
//!
//! let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../et-format/tests/data/add.pte"));
//! let method = Program::new(bytes)?.method("forward")?;
//! let arenas = (0..method.arena_count()?).map(|index| method.arena_size(index));
//! let sizes = arenas.collect::<Result<Vec<_>, _>>()?;
//! assert!(sizes.iter().sum::<usize>() > 0, "memory that the caller lends");
//! # Ok::<(), et_core::Error>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod claims;
mod decoded;
mod delegate;
mod events;
mod exchange;
mod execute;
mod failure;
mod hooks;
mod inputs;
mod listener;
mod load;
mod method;
mod named_data;
mod program;
mod steps;
mod values;
mod workers;

pub use claims::Claims;
pub use decoded::{
    DecodedInstruction, DecodedList, DecodedMemory, DecodedMethod, DecodedPlan, DecodedTensor, DecodedValue,
    InitialValue, Span,
};
pub use delegate::{Delegate, DelegateSetup};
pub use events::{DelegateEvent, Events, NoEvents, Position};
pub use execute::INSTRUCTION_LIMIT;
pub use failure::{Failure, Place};
pub use hooks::{Hooked, Hooks};
pub use listener::Listener;
pub use load::Memory;
pub use method::Method;
pub use named_data::{NamedData, NoData};
pub use program::{MethodPlan, Program, Requirements};
pub use steps::Step;
pub use workers::{Serial, Workers};

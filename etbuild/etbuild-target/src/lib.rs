//! Targets: schema and reader of `targets/*.yaml`, and the catalogue of the shipped targets.
//!
//! No code names a chip: every fact about a board, a processor or an emulator is in a YAML file. [`Target`] groups the
//! facts by aspect ([`Target::rust`], [`Target::memory`], [`Target::run`], ...), so that a stage reads, and has in its
//! action key, only the facts that it uses.
//!
//! ```
//! let targets = etbuild_target::Catalogue::shipped().unwrap();
//! let board = targets.get("pico2").unwrap();
//! assert!(board.memory().is_some(), "bare metal");
//! assert_eq!(board.pointer_width(), 32);
//! ```

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod board;
mod catalogue;
mod console;
mod counter;
mod gpu;
mod memory;
mod npu;
mod run;
mod rust;
mod schema;
mod shipped;
mod starter;
mod target;
mod triple;

pub use board::{Board, Flash};
pub use catalogue::Catalogue;
pub use console::{Console, RegisterBits, RegisterStep, RegisterValue, Uart};
pub use counter::{Counter, CsrValue};
pub use gpu::{Gpu, GpuApi, GpuInterface, MslVersion, TexelStorage};
pub use memory::{Access, Bank, BootBlock, Memory};
pub use npu::{Accelerator, EthosU, Npu, Qualcomm};
pub use run::{Emulator, Host, Image, Run, Uf2};
pub use rust::{Feature, Linker, Rust};
pub use schema::target_schema;
pub use shipped::SHIPPED;
pub use starter::starter;
pub use target::{Endian, Kind, Target, parse_target};
pub use triple::Triple;

//! What a target is: schema and reader of `targets/*.yaml`, and the catalogue of the shipped ones.
//!
//! No chip is named in code: every fact about a board, a processor or an emulator stands in a YAML file. [`Target`] gives
//! them by aspect ([`Target::rust`], [`Target::memory`], [`Target::run`], ...), so that a stage reads, and has in its key,
//! only the facts that it uses.
//!
//! ```
//! let targets = etbuild_target::Catalogue::shipped().unwrap();
//! let board = targets.get("pico2").unwrap();
//! assert!(board.memory().is_some(), "bare metal");
//! assert_eq!(board.pointer_width(), 32);
//! ```

mod catalogue;
mod console;
mod memory;
mod run;
mod rust;
mod schema;
mod shipped;
mod target;

pub use catalogue::Catalogue;
pub use console::{Console, RegisterBits, RegisterStep, RegisterValue, Uart};
pub use memory::{Access, Bank, BootBlock, Memory};
pub use run::{Device, Emulator, Image, Run, Uf2};
pub use rust::{Feature, Linker, Rust};
pub use schema::target_schema;
pub use shipped::SHIPPED;
pub use target::{Endian, Kind, Target, parse_target};

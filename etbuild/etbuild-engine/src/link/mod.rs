//! Linking: the kernels of the program become a project, and the project becomes a binary.

mod crates;
mod facts;
mod maker;
pub mod prebuilt;
mod project;
mod query;
mod select;
mod toolchain;
pub mod verify_data;
mod worker;

pub use facts::{compile_target, link_error};
pub use maker::{Maker, maker};
pub use project::{BinarySource, LinkOptions, ProjectInputs, VerifyFiles, read_interface, too_large};
pub use query::linked;
pub use select::selected;
pub use toolchain::{Tools, tools, tools_of};

//! The stages by name, each with the version of the code.

mod source;
mod stage;
pub mod version;

pub use source::Source;
pub use stage::Stage;

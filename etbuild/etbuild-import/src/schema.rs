//! Operator schemas: what the arguments are called, what types they have and what an archive leaves out.

mod default;
mod parse;
mod table;

pub use parse::{Kind, Parameter, Schema};
pub use table::find;

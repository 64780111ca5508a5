//! Operator schemas: names, types and defaults of parameters.

mod default;
mod parse;
mod table;

pub use parse::{Kind, Parameter, Schema};
pub use table::find;

//! Operator schemas: names, types and defaults of parameters.

mod default;
mod kind;
mod parse;
mod table;

pub use kind::Kind;
pub use parse::{Parameter, Schema};
pub use table::find;

//! Operator schemas: names, types and defaults of parameters.

mod default;
mod fit;
mod kind;
mod parse;
mod table;

pub use default::parse as literal;
pub use fit::fit;
pub use kind::Kind;
pub use parse::{Parameter, Schema, items};
pub use table::find;

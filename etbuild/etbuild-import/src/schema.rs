//! Operator schemas: names, types and defaults of parameters.

mod custom;
mod default;
mod kind;
mod parse;
mod table;

pub use custom::{CustomSchema, CustomSchemas};
pub use default::parse as literal;
pub use kind::Kind;
pub use parse::{Parameter, Schema, items};
pub use table::find;

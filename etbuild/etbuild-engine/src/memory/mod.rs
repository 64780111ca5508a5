//! Memory planning.

mod failure;
mod query;

pub use query::planned;

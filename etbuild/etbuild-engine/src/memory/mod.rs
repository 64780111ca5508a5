//! Memory planning.

mod failure;
mod query;
mod room;

pub use query::planned;
pub use room::{Need, in_int8, what_fits};

//! Pattern matching on a partition before lowering.

mod find_attention;

pub use find_attention::{Match, find_attention};

//! What is looked for in a partition before it is lowered.

mod find_attention;

pub use find_attention::{Match, find_attention};

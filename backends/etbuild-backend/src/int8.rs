//! What backends for int8 read of a graph: the patterns of static quantization, and functions as tables.

mod concatenation;
pub mod pattern;
mod table;

pub use concatenation::{Concatenation, NHWC};
pub use table::{lines, sampled, table};

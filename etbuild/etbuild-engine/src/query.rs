//! One tracked query per stage. What a stage does is in its own crate; here is what it reads, and so its key.

mod recipe;

pub use recipe::recipes;

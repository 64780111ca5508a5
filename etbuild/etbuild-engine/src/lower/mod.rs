//! Lowering: the ATen program becomes a program of operators that have kernels.

mod failure;
mod query;
mod widen;

pub use failure::{front_end as front_end_failure, refusal};
pub use query::{LowerOptions, front_ends_value, lowered, mentions_halves, state_names};
pub use widen::widen;

//! Linear algebra in terms of factorizations.

pub mod norm;
pub mod orthogonal;
pub mod solve;
pub mod spectrum;

//! Linear algebra: factorizations of batches of matrices, in the memory of the outputs.

mod batch;

pub mod cholesky;
pub mod eigen;
pub mod exponential;
pub mod householder;
pub mod lu;
pub mod singular;
pub mod triangular;

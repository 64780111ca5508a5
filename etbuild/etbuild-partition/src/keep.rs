//! Storage for the packed weights of backends.

use etbuild_backend::{Refusal, Weights};
use etbuild_ir::ConstantData;

/// Stores constants that backends compute.
pub trait Keep {
    /// The bytes of each constant, computed unless stored already.
    ///
    /// # Errors
    /// Inconsistent weights.
    fn keep(&self, weights: &[Weights]) -> Result<Vec<ConstantData>, Refusal>;
}

/// Keeps packed weights in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct InMemory;

impl Keep for InMemory {
    fn keep(&self, weights: &[Weights]) -> Result<Vec<ConstantData>, Refusal> {
        weights.iter().map(|weights| Ok(ConstantData::new(weights.bytes()?))).collect()
    }
}

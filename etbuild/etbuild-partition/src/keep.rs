//! Where the weights of engines go.

use etbuild_backend::{Refusal, Weights};
use etbuild_ir::ConstantData;

/// Keeps constant bytes that engines make.
pub trait Keep {
    /// The bytes of each, made where they are not kept yet.
    ///
    /// # Errors
    /// Weights that contradict themselves.
    fn keep(&self, weights: &[Weights]) -> Result<Vec<ConstantData>, Refusal>;
}

/// In memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct InMemory;

impl Keep for InMemory {
    fn keep(&self, weights: &[Weights]) -> Result<Vec<ConstantData>, Refusal> {
        weights.iter().map(|weights| Ok(ConstantData::new(weights.bytes()?))).collect()
    }
}

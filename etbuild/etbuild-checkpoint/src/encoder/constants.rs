//! The constants of an encoder. A missing tensor is noted and stands as an empty constant, so that all mistakes are found at once.

use et_core::ScalarType;
use etbuild_ir::{ConstantData, TensorSpec};
use etbuild_weights::Tensor;

use crate::CheckpointError;
use crate::constant::{Constant, Part, spec, vector_of};
use crate::shards::Tensors;

/// The tensors of a checkpoint, and the mistakes.
pub struct Constants {
    tensors: Tensors,
    errors: Vec<CheckpointError>,
}

impl Constants {
    /// The tensors of a checkpoint.
    pub const fn new(tensors: Tensors) -> Self {
        Self { tensors, errors: Vec::new() }
    }

    /// Rows of a matrix with this number of columns, in the type of the checkpoint.
    pub fn matrix(&mut self, name: &str, part: Part, columns: usize) -> Constant {
        let Part { first, count, all } = part;
        let found = self.tensors.take(name, &[all, columns]);
        self.noted(part.named(name), found, |tensor| {
            let row = columns * tensor.scalar_type.size();
            let data = ConstantData::part_of(tensor.shard.clone(), tensor.start + first * row, count * row)?;
            Some((spec(tensor.scalar_type, &[count, columns]), data))
        })
    }

    /// A vector, as `float32`.
    pub fn vector(&mut self, name: &str, count: usize) -> Constant {
        let found = self.tensors.take(name, &[count]);
        self.noted(name.to_owned(), found, |tensor| Some(vector_of(&[count], &tensor.floats(0, count)?)))
    }

    /// Whether a tensor has this name.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.has(name)
    }

    /// The mistakes, and the unused tensors whose names begin with none of `unused`.
    pub fn finish(mut self, unused: &[&str]) -> Vec<CheckpointError> {
        if self.errors.is_empty() {
            let is_known = |name: &str| {
                name.ends_with("position_ids")
                    || name.ends_with("token_type_ids")
                    || unused.iter().any(|start| name.starts_with(start))
            };
            let left = self.tensors.left(is_known);
            self.errors.extend((!left.is_empty()).then_some(CheckpointError::TensorsUnknown(left)));
        }
        self.errors
    }

    fn noted(
        &mut self,
        name: String,
        found: Result<Tensor, CheckpointError>,
        read: impl FnOnce(&Tensor) -> Option<(TensorSpec, ConstantData)>,
    ) -> Constant {
        let read = found.and_then(|tensor| read(&tensor).ok_or_else(|| CheckpointError::TensorMissing(name.clone())));
        let (spec, data) = read.unwrap_or_else(|error| {
            self.errors.push(error);
            (spec(ScalarType::Float, &[0]), ConstantData::new(Vec::new()))
        });
        Constant::plain(&name, spec, data)
    }
}

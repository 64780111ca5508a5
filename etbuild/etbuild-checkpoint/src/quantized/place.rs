//! A tensor of one of torchao's classes in the files: the names of its parts.

use etbuild_weights::{Affine, Tensor};

use super::{optional, two_sizes};
use crate::CheckpointError;
use crate::class::Class;
use crate::shards::Tensors;

/// A tensor in the files.
pub struct Place<'n> {
    /// The name.
    pub tensor: &'n str,
    /// The module.
    pub module: &'n str,
    /// The name within the module.
    pub ending: &'n str,
    /// The class.
    pub class: &'n Class,
}

impl Place<'_> {
    /// The name of a part within the module.
    pub fn part(&self, part: &str) -> String {
        format!("_{}_{part}", self.ending)
    }

    /// The rows and the columns of a part.
    pub fn sizes(&self, tensors: &Tensors, part: &str) -> Result<[usize; 2], CheckpointError> {
        let name = format!("{}.{}", self.module, self.part(part));
        match tensors.get(&name) {
            Some(found) if found.shape.len() == 3 => Err(CheckpointError::Stack(self.tensor.to_owned())),
            _ => two_sizes(tensors, self.module, &self.part(part)),
        }
    }

    /// A part of any shape.
    pub fn any(&self, tensors: &mut Tensors, part: &str) -> Result<Tensor, CheckpointError> {
        let missing = || CheckpointError::TensorMissing(format!("{}.{}", self.module, self.part(part)));
        optional(tensors, self.module, &self.part(part)).ok_or_else(missing)
    }

    /// The matrix of these sizes.
    pub fn add(&self, tensors: &mut Tensors, matrix: Affine) -> Result<(), CheckpointError> {
        let [rows, columns, _] = matrix.sizes;
        tensors.add_encoded(self.tensor.to_owned(), vec![rows, columns], matrix.encoded())
    }

    /// The mistake of a part whose shape does not fit.
    pub fn misfit(&self, part: &Tensor, wanted: &[usize]) -> CheckpointError {
        let (tensor, found) = (self.tensor.to_owned(), part.shape.clone());
        CheckpointError::Shape { tensor, found, wanted: wanted.to_vec() }
    }
}

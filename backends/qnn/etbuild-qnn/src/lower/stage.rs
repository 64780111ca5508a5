//! Operators that become several operations in fp16.

use etbuild_ir::ValueId;

use crate::builder::Builder;
use crate::encoding::Encoding;
use crate::program::{Parameter, TensorId};

use super::elementwise::number_like;
use super::join::{Range, part};

/// Adds the operations that a node becomes, in fp16.
pub struct Stage<'b, 'g> {
    /// The graph under construction.
    pub builder: &'b mut Builder<'g>,
    /// The value that names the tensors.
    pub name: ValueId,
}

impl Stage<'_, '_> {
    /// The result of an operation with these sizes.
    pub fn make(&mut self, type_name: &'static str, inputs: &[TensorId], sizes: &[u32]) -> TensorId {
        self.make_with(type_name, Vec::new(), inputs, sizes)
    }

    /// The same, of an operation with parameters.
    pub fn make_with(
        &mut self,
        type_name: &'static str,
        parameters: Vec<(&'static str, Parameter)>,
        inputs: &[TensorId],
        sizes: &[u32],
    ) -> TensorId {
        let made = self.builder.temporary(self.name, Encoding::Float, sizes.to_vec());
        self.builder.operation(type_name, parameters, inputs.to_vec(), made);
        made
    }

    /// The tensor with dimensions in another order.
    pub fn permuted(&mut self, tensor: TensorId, permutation: [u32; 4], sizes: &[u32]) -> TensorId {
        let parameter = Parameter::Integers(vec![4], permutation.to_vec());
        self.make_with("Transpose", vec![("perm", parameter)], &[tensor], sizes)
    }

    /// The elements `start..end` of the last dimension, each `step`-th.
    pub fn elements(&mut self, tensor: TensorId, [start, end, step]: [u32; 3]) -> TensorId {
        let mut sizes = self.builder.program.get(tensor).sizes.clone();
        let dim = sizes.len() - 1;
        sizes[dim] = (end - start).div_ceil(step);
        let made = self.builder.temporary(self.name, Encoding::Float, sizes);
        let [start, end, step] = [start, end, step].map(i64::from);
        part(self.builder, tensor, Range { dim, start, end, step }, made);
        made
    }

    /// Tensors joined along an axis.
    pub fn joined(&mut self, parts: &[TensorId], axis: u32, sizes: &[u32]) -> TensorId {
        self.make_with("Concat", vec![("axis", Parameter::Uint32(axis))], parts, sizes)
    }

    /// The product of a tensor and a number.
    pub fn scaled(&mut self, tensor: TensorId, scale: f64) -> TensorId {
        let sizes = self.builder.program.get(tensor).sizes.clone();
        let number = number_like(self.builder, scale as f32, Encoding::Float);
        self.make("ElementWiseMultiply", &[tensor, number], &sizes)
    }

    /// The scores of queries and keys, which are matrices of rows.
    pub fn scores(&mut self, [queries, keys]: [TensorId; 2], sizes: &[u32]) -> TensorId {
        self.make_with("MatMul", vec![("transpose_in1", Parameter::Bool(true))], &[queries, keys], sizes)
    }

    /// Softmax along the last dimension.
    pub fn softmax(&mut self, scores: TensorId) -> TensorId {
        let sizes = self.builder.program.get(scores).sizes.clone();
        let axis = Parameter::Uint32(sizes.len() as u32 - 1);
        self.make_with("Softmax", vec![("axis", axis)], &[scores], &sizes)
    }
}

//! Indexing, sorting and products for rules.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::{Dim, Editor};
use crate::Reason;

type Made = Result<ValueId, Reason>;

impl Editor {
    /// A value with a further dimension of size 1.
    pub fn unsqueezed(&mut self, of: ValueId, dim: usize) -> Made {
        let mut dims = self.dims(of);
        if dim > dims.len() {
            return Err(Reason::Arguments);
        }
        dims.insert(dim, 1.into());
        self.view_as(of, &dims)
    }

    /// A value without a dimension of size 1.
    pub fn squeezed(&mut self, of: ValueId, dim: usize) -> Made {
        let mut dims = self.dims(of);
        if dim >= dims.len() {
            return Err(Reason::Arguments);
        }
        dims.remove(dim);
        self.view_as(of, &dims)
    }

    /// A vector of all elements.
    pub fn flattened(&mut self, of: ValueId) -> Made {
        let count = Dim::product(&self.dims(of));
        self.view_as(of, &[count])
    }

    /// A vector along a dimension of a value of `rank`.
    pub fn along(&mut self, vector: ValueId, dim: usize, rank: usize) -> Made {
        let [size] = self.dims(vector)[..] else { return Err(Reason::Arguments) };
        let mut dims = vec![Dim::from(1); rank];
        *dims.get_mut(dim).ok_or(Reason::Arguments)? = size;
        self.view_as(vector, &dims)
    }

    /// The elements at the indices of a tensor of the same rank, along a dimension.
    pub fn gather(&mut self, of: ValueId, dim: usize, index: ValueId) -> Made {
        let output = TensorSpec { scalar_type: self.spec(of).scalar_type, ..self.spec(index).clone() };
        let dim = Argument::Int(dim as i64);
        self.call(
            "gather.default",
            vec![Argument::Value(of), dim, Argument::Value(index), Argument::Bool(false)],
            output,
        )
    }

    /// The sorted elements along a dimension, and their indices. NaN is greatest.
    pub fn sorted(&mut self, of: ValueId, dim: usize, descending: bool) -> Result<[ValueId; 2], Reason> {
        let values = self.spec(of).clone();
        let indices = TensorSpec { scalar_type: ScalarType::Long, ..values.clone() };
        let arguments = vec![Argument::Value(of), Argument::Int(dim as i64), Argument::Bool(descending)];
        let made = self.call_many("sort.default", arguments, vec![values, indices])?;
        made.try_into().map_err(|_| Reason::Arguments)
    }

    /// A GEMM of matrices, with broadcast batches.
    pub fn product(&mut self, left: ValueId, right: ValueId) -> Made {
        let (first, second) = (self.dims(left), self.dims(right));
        let ([outer @ .., rows, _], [other @ .., _, columns]) = (&first[..], &second[..]) else {
            return Err(Reason::Arguments);
        };
        let dims = [Dim::broadcast(outer, other)?, vec![*rows, *columns]].concat();
        let output = Dim::spec(self.spec(left).scalar_type, &dims);
        self.call("matmul.default", vec![Argument::Value(left), Argument::Value(right)], output)
    }

    /// The static sizes of a value.
    pub fn static_sizes(&self, of: ValueId) -> Result<Vec<i32>, Reason> {
        if self.spec(of).is_dynamic() { Err(Reason::Dynamic) } else { Ok(self.sizes(of)) }
    }

    /// The integers from 0, along a dimension of a value of `rank`.
    pub fn counting(&mut self, count: i32, dim: usize, rank: usize) -> Made {
        let all: Vec<i64> = (0..i64::from(count)).collect();
        let vector = self.integers(&all)?;
        self.along(vector, dim, rank)
    }
}

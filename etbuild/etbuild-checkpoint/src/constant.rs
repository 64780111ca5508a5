//! Constants of programs, made of the tensors of a checkpoint.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::{ConstantData, TensorSpec};
use etbuild_weights::reals;

/// A constant with the name.
#[derive(Clone)]
pub struct Constant {
    /// The name of the tensor, or of a part of the tensor.
    pub name: String,
    /// Type and shape.
    pub spec: TensorSpec,
    /// The elements.
    pub data: ConstantData,
    /// The groups of a matrix of integers.
    pub groups: Option<Arc<Groups>>,
}

/// What makes numbers of the integers of a matrix.
pub struct Groups {
    /// The scale of each group, `float32 [rows, groups]`.
    pub scales: Constant,
    /// The offset of each group times the elements of a group, `float32 [1, groups, rows]`, if a product adds them.
    pub offsets: Option<Constant>,
    /// The offset of each group, `float32 [rows, groups]`, if rows are looked up.
    pub row_offsets: Option<Constant>,
    /// The neighbours in a row that share a scale.
    pub group: usize,
    /// The least and the greatest integer.
    pub bounds: [i64; 2],
}

/// Matrices of one shape, of which rows choose some.
#[derive(Default)]
pub struct Matrices {
    /// The matrices.
    pub all: Vec<Constant>,
    /// A bias for each row of each, `[matrices, rows]`.
    pub biases: Option<Constant>,
    /// The offset of each group times the elements of a group, `float32 [matrices, groups, rows]`, where groups have offsets.
    pub offsets: Option<Constant>,
}

impl Constant {
    /// Elements that stand for themselves.
    pub fn plain(name: &str, spec: TensorSpec, data: ConstantData) -> Self {
        Self { name: name.to_owned(), spec, data, groups: None }
    }
}

/// Which rows of a tensor are wanted.
#[derive(Clone, Copy)]
pub struct Part {
    /// The first.
    pub first: usize,
    /// How many.
    pub count: usize,
    /// How many the tensor has.
    pub all: usize,
}

impl Part {
    /// All rows.
    pub const fn all(count: usize) -> Self {
        Self { first: 0, count, all: count }
    }

    /// The name of these rows of a tensor.
    pub fn named(self, tensor: &str) -> String {
        let Self { first, count, all } = self;
        if count == all { tensor.to_owned() } else { format!("{tensor}[{first}..{}]", first + count) }
    }
}

/// Type and shape of a dense constant.
pub fn spec(scalar_type: ScalarType, sizes: &[usize]) -> TensorSpec {
    let sizes: Vec<i32> = sizes.iter().map(|size| i32::try_from(*size).unwrap_or(i32::MAX)).collect();
    TensorSpec::contiguous(scalar_type, sizes)
}

/// Numbers as `float32`.
pub fn vector_of(sizes: &[usize], elements: &[f32]) -> (TensorSpec, ConstantData) {
    (spec(ScalarType::Float, sizes), ConstantData::new(reals::stored(elements)))
}

//! Weights as they are stored: plain numbers where they lie, integers in groups with their scales, or decoded numbers.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::{Buffer, ConstantData};
use etbuild_weights::{Decoded, Derived, Encoded, Grid, Tensor, Want};

use super::Weights;
use crate::CheckpointError;
use crate::constant::{Constant, Groups, Part, spec};
use crate::shards::Stored;

/// A constant as the buffer of a tensor.
pub struct Whole(pub ConstantData);

impl Buffer for Whole {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// What the reader of a matrix does with the offsets of its groups.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Offsets {
    /// The reader adds no offsets: a matrix with offsets is decoded.
    Refused,
    /// The reader adds the products of offsets and means; the matrix has a constant of offsets.
    Own,
    /// The reader adds the products of offsets and means; several matrices share a constant of offsets.
    Shared,
    /// The reader looks rows up, and adds offsets to the numbers of a row.
    Rows,
    /// A linear layer reads the matrix, and a lookup reads rows.
    Both,
}

/// Some rows of a tensor, of which the first dimensions count as rows.
pub struct Rows<'n> {
    /// The name of the tensor.
    pub tensor: &'n str,
    /// The shape of the tensor.
    pub shape: &'n [usize],
    /// Whether and how the reader adds the offsets of groups.
    pub offsets: Offsets,
    /// The first row.
    pub first: usize,
    /// How many.
    pub count: usize,
}

impl Weights<'_> {
    /// A tensor as plain numbers; the numbers of a tensor in another form are decoded.
    pub(super) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Tensor, CheckpointError> {
        match self.tensors.take_stored(name, shape)? {
            Stored::Plain(tensor) => Ok(tensor),
            Stored::Encoded(matrix) => {
                let rows = shape.iter().product::<usize>() / matrix.columns.max(1);
                let decoded = self.keep(name, &Decoded { matrix: &matrix, rows: 0..rows, want: Want::Numbers });
                let (scalar_type, shard) = (ScalarType::Float, Arc::new(Whole(decoded)));
                Ok(Tensor { scalar_type, shape: shape.to_vec(), shard, start: 0 })
            }
        }
    }

    /// Rows of a tensor of numbers, `[rows, columns]`, in the type of the checkpoint; where the options keep the groups of the tensor,
    /// integers and scales.
    pub(super) fn rows(&mut self, name: String, rows: &Rows<'_>) -> Constant {
        self.once_constant(name, |weights, name| {
            let Rows { tensor, shape, offsets, first, count } = *rows;
            let columns = shape.last().copied().unwrap_or(1);
            match weights.tensors.take_stored(tensor, shape)? {
                Stored::Plain(found) => {
                    let row = columns * found.scalar_type.size();
                    let data = ConstantData::part_of(found.shard.clone(), found.start + first * row, count * row);
                    let data = data.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
                    Ok(Constant::plain(name, spec(found.scalar_type, &[count, columns]), data))
                }
                Stored::Encoded(matrix) => {
                    Ok(weights.decoded(name, &matrix, Part { first, count, all: count }, offsets))
                }
            }
        })
    }

    fn decoded(&mut self, name: &str, matrix: &Encoded, part: Part, offsets: Offsets) -> Constant {
        let Part { first, count, .. } = part;
        let grid = self.keeps.grid(matrix).filter(|grid| offsets != Offsets::Refused || !grid.has_offsets);
        let make = |want, name: &str, columns: usize| {
            let derived = Decoded { matrix, rows: first..first + count, want };
            let sizes = if want == Want::Offsets { vec![1, columns, count] } else { vec![count, columns] };
            let spec = spec(derived.scalar_type(), &sizes);
            Constant::plain(name, spec, self.keep(name, &derived))
        };
        let Some(Grid { group, bounds, has_offsets }) = grid else {
            return make(Want::Numbers, name, matrix.columns);
        };
        let by_group = |want, part: &str| make(want, &format!("{name}.{part}"), matrix.columns / group.max(1));
        let wants = |kind: Offsets| has_offsets && (offsets == kind || offsets == Offsets::Both);
        let scales = by_group(Want::Scales, "scales");
        let row_offsets = wants(Offsets::Rows).then(|| by_group(Want::RowOffsets, "row_offsets"));
        let offsets = wants(Offsets::Own).then(|| by_group(Want::Offsets, "offsets"));
        let integers = make(Want::Integers, &format!("{name}.integers"), matrix.columns);
        Constant { groups: Some(Arc::new(Groups { scales, offsets, row_offsets, group, bounds })), ..integers }
    }

    pub(super) fn keep(&self, name: &str, derived: &dyn Derived) -> ConstantData {
        self.keeper.keep(name, derived)
    }
}

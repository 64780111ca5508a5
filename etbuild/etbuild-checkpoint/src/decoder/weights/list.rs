//! Lists of matrices of one shape, of which rows choose some: the experts of a mixture, or the heads of an attention.

use std::ops::Range;

use et_core::ScalarType;
use etbuild_weights::{Decoded, Encoded, Grid, Joined, Want};

use super::Weights;
use super::stored::{Offsets, Rows};
use crate::constant::{Constant, Matrices, Part, spec};

/// Where a matrix of a list lies.
pub struct Listed {
    /// The name.
    name: String,
    /// The tensor.
    tensor: String,
    /// The shape of the tensor.
    shape: Vec<usize>,
    /// The first of the matrix's rows among all rows of the tensor.
    first: usize,
    /// How many.
    count: usize,
}

impl Listed {
    /// Rows of a matrix that is a tensor.
    pub fn alone(tensor: String, part: Part, columns: usize) -> Self {
        let Part { first, count, all } = part;
        Self { name: part.named(&tensor), tensor, shape: vec![all, columns], first, count }
    }

    /// Rows of a matrix in a stack `[matrices, all, columns]`.
    pub fn in_stack(tensor: &str, [index, matrices]: [usize; 2], part: Part, columns: usize) -> Self {
        let Part { first, count, all } = part;
        let (name, shape) = (format!("{}.{index}", part.named(tensor)), vec![matrices, all, columns]);
        Self { name, tensor: tensor.to_owned(), shape, first: index * all + first, count }
    }
}

impl Weights<'_> {
    /// The matrices of a list, in the type of the checkpoint; integers with offsets stay where all have groups of one size.
    pub fn list(&mut self, matrices: usize, of: impl Fn(usize) -> Listed) -> Matrices {
        let shared = self.offsets_of(matrices, &of);
        let offsets = if shared.is_some() { Offsets::Shared } else { Offsets::Refused };
        let mut all = Vec::new();
        for index in 0..matrices {
            if self.gave_up() {
                break;
            }
            let Listed { name, tensor, shape, first, count } = of(index);
            all.push(self.rows(name, &Rows { tensor: &tensor, shape: &shape, offsets, first, count }));
        }
        Matrices { all, biases: None, offsets: shared }
    }

    /// The offsets of all matrices in a constant, with zeros for a matrix without.
    fn offsets_of(&mut self, matrices: usize, of: impl Fn(usize) -> Listed) -> Option<Constant> {
        // The first matrix without groups ends the search, so that no number of matrices is trusted.
        let grouped = |index: usize| {
            let Listed { tensor, shape, first, count, .. } = of(index);
            let matrix = self.tensors.encoded(&tensor, &shape)?.clone();
            let grid = self.keeps.grid(&matrix)?;
            Some((matrix, grid, first..first + count))
        };
        let all: Vec<(Encoded, Grid, Range<usize>)> = (0..matrices).map(grouped).collect::<Option<_>>()?;
        let (matrix, grid, rows) = all.first()?;
        let is_alike = |other: &Grid| (other.group, other.bounds) == (grid.group, grid.bounds);
        let fits = all.iter().all(|(_, other, _)| is_alike(other)) && all.iter().any(|(_, grid, _)| grid.has_offsets);
        let sizes = [matrices, matrix.columns / grid.group.max(1), rows.len()];
        let parts = all.iter().map(|(matrix, _, rows)| Decoded { matrix, rows: rows.clone(), want: Want::Offsets });
        fits.then(|| {
            let parts = Joined(parts.collect());
            self.once(format!("{}.offsets", of(0).name), |weights, name| {
                Ok((spec(ScalarType::Float, &sizes), weights.keep(name, &parts)))
            })
        })
    }
}

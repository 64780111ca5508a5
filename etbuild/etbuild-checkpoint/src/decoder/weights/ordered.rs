//! Tensors with rows or elements in another order, of which some may stand several times.

use etbuild_ir::ConstantData;
use etbuild_weights::Derived;

use super::Weights;
use super::stored::{Offsets, Rows};
use crate::CheckpointError;
use crate::constant::{Constant, spec, vector_of};

/// Rows of a matrix in another order.
struct Ordered<'o> {
    /// The bytes of the matrix.
    stored: ConstantData,
    /// The bytes of a row.
    row: usize,
    order: &'o [usize],
}

impl Derived for Ordered<'_> {
    fn identity(&self) -> String {
        let Self { stored, row, order } = self;
        format!("ordered {} {row} {order:?}", stored.digest())
    }

    fn length(&self) -> usize {
        self.order.len() * self.row
    }

    fn run(&self, take: &mut dyn FnMut(&[u8])) {
        let rows = self.order.iter().filter_map(|row| self.stored.bytes().get(row * self.row..(row + 1) * self.row));
        rows.for_each(take);
    }
}

impl Weights<'_> {
    /// Rows of a matrix `[all, columns]` in this order, in the type of the checkpoint.
    pub fn ordered_rows(&mut self, tensor: &str, order: &[usize], [all, columns]: [usize; 2]) -> Constant {
        self.once(format!("{tensor}.ordered"), |weights, name| {
            let found = weights.take(tensor, &[all, columns])?;
            let row = columns * found.scalar_type.size();
            let stored = ConstantData::part_of(found.shard.clone(), found.start, all * row);
            let stored = stored.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
            let data = weights.keep(name, &Ordered { stored, row, order });
            Ok((spec(found.scalar_type, &[order.len(), columns]), data))
        })
    }

    /// Elements of a vector of `all` in this order, as `float32`.
    pub fn ordered_vector(&mut self, tensor: &str, order: &[usize], all: usize) -> Constant {
        self.once(format!("{tensor}.ordered"), |weights, name| {
            let found = weights.take(tensor, &[all])?;
            let elements = found.floats(0, all);
            let elements = elements.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
            let ordered: Vec<f32> = order.iter().filter_map(|index| elements.get(*index).copied()).collect();
            Ok(vector_of(&[ordered.len()], &ordered))
        })
    }

    /// The first `count` rows of one of several tables, `[tables, rows, columns]`, in the type of the checkpoint.
    pub fn rows_of_table(&mut self, tensor: &str, [index, count]: [usize; 2], sizes: [usize; 3]) -> Constant {
        let rows = Rows { tensor, shape: &sizes, offsets: Offsets::Refused, first: index * sizes[1], count };
        self.rows(format!("{tensor}[{index}]"), &rows)
    }

    /// The number of a tensor without dimensions.
    pub fn scalar(&mut self, tensor: &str) -> f64 {
        let number = self.take(tensor, &[]).and_then(|found| {
            let number = found.floats(0, 1).and_then(|numbers| numbers.first().copied());
            number.ok_or_else(|| CheckpointError::TensorMissing(tensor.to_owned()))
        });
        number.map_or_else(
            |error| {
                self.mistaken(error);
                f64::INFINITY
            },
            f64::from,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_where_the_order_says() {
        let ordered = Ordered { stored: ConstantData::new(vec![1, 2, 3, 4, 5, 6]), row: 2, order: &[2, 0, 0] };
        let mut bytes = Vec::new();
        ordered.run(&mut |row| bytes.extend_from_slice(row));
        assert_eq!((bytes.as_slice(), ordered.length()), (&[5, 6, 1, 2, 1, 2][..], 6));
        let other = Ordered { order: &[0, 2, 0], ..ordered };
        assert!(other.identity() != Ordered { order: &[2, 0, 0], stored: other.stored.clone(), row: 2 }.identity());
    }
}

//! Weights of a LoRA adapter: two low-rank matrices for each covered layer.

use et_core::ScalarType;
use etbuild_ir::{ConstantData, adapter_name};
use etbuild_weights::Rotated;

use super::{DOWN, Linear, UP};
use crate::CheckpointError;
use crate::constant::{Constant, Part, spec};
use crate::decoder::sides::Side;
use crate::decoder::weights::Weights;

/// The adapter's addition to a linear layer: `up (down x)`.
pub struct LowRank {
    /// `float32 [rank, columns]`.
    pub down: Constant,
    /// `float32 [rows, rank]`, with the adapter's factor folded in.
    pub up: Constant,
}

impl Weights<'_> {
    /// The adapter's addition to a layer; `None` for a layer without adapter, or after a mistake. In a rotated model
    /// the first matrix reads the rotated input of the layer, and the second makes the rotated output.
    pub fn low_rank(&mut self, layer: &Linear<'_>) -> Option<LowRank> {
        let Linear { module, part, columns, sides, .. } = *layer;
        let over = match self.adapter.as_mut()?.layer(module) {
            Ok(over) => over?,
            Err(error) => {
                self.mistaken(error.of_adapter());
                return None;
            }
        };
        let gains = match sides.norm {
            Some(norm) if self.rotates() => self.gains(norm, columns),
            _ => Vec::new(),
        };
        let first = Matrix { module, name: DOWN, part: Part::all(over.rank), columns };
        let second = Matrix { name: UP, part, columns: over.rank, ..first };
        let down = self.of_adapter(&first, sides.reads, None, |_| gains);
        let factor = over.factor as f32;
        let factors = |rank| if factor == 1.0 { Vec::new() } else { vec![factor; rank] };
        let up = self.of_adapter(&second, None, sides.makes, factors);
        Some(LowRank { down, up })
    }

    /// A matrix of the adapter as `float32`, each column times the column's gain.
    fn of_adapter(
        &mut self,
        matrix: &Matrix<'_>,
        reads: Option<Side>,
        makes: Option<Side>,
        gains: impl FnOnce(usize) -> Vec<f32>,
    ) -> Constant {
        let Matrix { part, columns, .. } = *matrix;
        let [reads, makes] = [reads, makes].map(|side| self.rotated_space(side));
        let name = format!("{}.{}.weight", matrix.module, matrix.name);
        self.once(adapter_name(&part.named(&name)), |weights, constant| {
            let (elements, scalar_type) = weights.rows_of_adapter(matrix)?;
            let gains = gains(columns);
            let spec = spec(ScalarType::Float, &[part.count, columns]);
            let is_as_stored = gains.is_empty() && reads.is_none() && makes.is_none();
            if is_as_stored && scalar_type == ScalarType::Float {
                return Ok((spec, elements));
            }
            let rotated = Rotated { elements, scalar_type, columns, gains, reads, makes };
            Ok((spec, weights.keeper.keep(constant, &rotated)))
        })
    }

    /// The elements of a stored matrix, and the type.
    fn rows_of_adapter(&mut self, matrix: &Matrix<'_>) -> Result<(ConstantData, ScalarType), CheckpointError> {
        let Matrix { module, name, part: Part { first, count, all }, columns } = *matrix;
        let missing = || CheckpointError::TensorMissing(format!("{module}.{name}.weight"));
        let adapter = self.adapter.as_mut().ok_or_else(missing)?;
        let found = adapter.take(module, name, &[all, columns]).map_err(CheckpointError::of_adapter)?;
        let row = columns * found.scalar_type.size();
        let elements = ConstantData::part_of(found.shard.clone(), found.start + first * row, count * row);
        Ok((elements.ok_or_else(missing)?, found.scalar_type))
    }
}

/// A matrix of an adapter.
#[derive(Clone, Copy)]
struct Matrix<'n> {
    /// The covered module.
    module: &'n str,
    /// The first or the second matrix.
    name: &'static str,
    /// The rows.
    part: Part,
    /// The columns.
    columns: usize,
}

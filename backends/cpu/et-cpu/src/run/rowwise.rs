//! Softmax and normalization of rows.

use et_core::Result;
use et_kernels::normalize::{Normalization, normalize as normalize_rows};
use et_kernels::softmax::softmax as softmax_rows;

use crate::memory::Operands;
use crate::run::Context;
use crate::split;
use crate::{Normalize, Softmax};

/// The minimum elements of a task.
const LEAST: usize = 1 << 13;

/// Softmax of each row.
pub fn softmax(context: &Context<'_, '_, '_>, fields: &Softmax) -> Result<()> {
    let (rows, columns) = (fields.rows as usize, fields.columns as usize);
    let mut operands = context.memory.operands();
    let input = operands.read::<f32>(fields.input.place, rows * columns)?;
    let output = operands.write::<f32>(fields.output.place, rows * columns)?;
    let level = context.level;
    split::runs(context, output, columns, LEAST / columns.max(1), |rows, output, _| {
        softmax_rows(level, &input[rows.start * columns..rows.end * columns], output, columns)
    })
}

/// The kernel's normalization: LayerNorm or RMSNorm.
pub fn normalization<'m>(fields: &Normalize, operands: &mut Operands<'m, '_, '_>) -> Result<Normalization<'m>> {
    let (weight, bias) = (operands.read_optional(fields.weight)?, operands.read_optional(fields.bias)?);
    Ok(Normalization { centered: fields.centered == 1, epsilon: fields.epsilon, weight, bias })
}

/// LayerNorm or RMSNorm of each row.
pub fn normalize(context: &Context<'_, '_, '_>, fields: &Normalize) -> Result<()> {
    let (rows, columns) = (fields.rows as usize, fields.columns as usize);
    let mut operands = context.memory.operands();
    let input = operands.read::<f32>(fields.input.place, rows * columns)?;
    let normalization = normalization(fields, &mut operands)?;
    let output = operands.write::<f32>(fields.output.place, rows * columns)?;
    let level = context.level;
    split::runs(context, output, columns, LEAST / columns.max(1), |rows, output, _| {
        normalize_rows(level, &input[rows.start * columns..rows.end * columns], &normalization, output, columns)
    })
}

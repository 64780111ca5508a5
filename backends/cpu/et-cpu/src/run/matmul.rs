//! Batched matmul of two activation tensors.

use et_core::{Error, Result};

use crate::run::Context;
use crate::split;
use crate::{BatchMatmul, Matrices};

/// The minimum multiply-accumulates of a task.
const LEAST: usize = 1 << 15;

/// Executes the instruction: output rows are partitioned among tasks.
pub fn run(context: &Context<'_, '_, '_>, fields: &BatchMatmul) -> Result<()> {
    let [batches, rows, inner, columns] = fields.sizes.map(|size| size as usize);
    let mut operands = context.memory.operands();
    let left = operands.read::<f32>(fields.left.place, span(&fields.left, [batches, rows, inner])?)?;
    let right = operands.read::<f32>(fields.right.place, span(&fields.right, [batches, inner, columns])?)?;
    let output = operands.write::<f32>(fields.output.place, batches * rows * columns)?;
    let least = LEAST / (inner * columns).max(1) + 1;
    let (of_left, of_right) = (strides(&fields.left), strides(&fields.right));
    split::runs(context, output, columns, least, |range, output, _| {
        for (row, output) in range.zip(output.chunks_exact_mut(columns.max(1))) {
            let (batch, row) = (row / rows, row % rows);
            let left = left.get(batch * of_left[0] + row * of_left[1]..).unwrap_or(&[]);
            let right = right.get(batch * of_right[0]..).unwrap_or(&[]);
            product_row(left.iter().step_by(of_left[2].max(1)).take(inner), right, of_right, output);
        }
        Ok(())
    })
}

/// An output row of a matmul: accumulates the rows of the right matrix, each times an element of the left row.
fn product_row<'l>(left: impl Iterator<Item = &'l f32>, right: &[f32], strides: [usize; 3], output: &mut [f32]) {
    output.fill(0.0);
    for (step, factor) in left.enumerate() {
        let row = right.get(step * strides[1]..).unwrap_or(&[]);
        let elements = row.iter().step_by(strides[2].max(1));
        output.iter_mut().zip(elements).for_each(|(sum, element)| *sum += factor * element);
    }
}

fn strides(matrices: &Matrices) -> [usize; 3] {
    matrices.strides.map(|stride| stride as usize)
}

/// The number of elements that the strides of a tensor span.
fn span(matrices: &Matrices, sizes: [usize; 3]) -> Result<usize> {
    let mut last = 1_usize;
    for (size, stride) in sizes.into_iter().zip(matrices.strides) {
        let Some(steps) = size.checked_sub(1) else { return Ok(0) };
        let distance = steps.checked_mul(stride as usize).ok_or(Error::InvalidProgram)?;
        last = last.checked_add(distance).ok_or(Error::InvalidProgram)?;
    }
    Ok(last)
}

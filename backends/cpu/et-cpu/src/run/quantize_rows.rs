//! Dynamic quantization of rows to int8, and dequantization.
#![allow(unsafe_code, reason = "tasks write disjoint rows of two results")]

use et_core::{Error, Result};
use et_gemm::{RowScale, quantize_rows};
use et_kernels::quantized::{self, Quantization};

use crate::run::Context;
use crate::run::images::count;
use crate::split::{self, Chunks, Elements};
use crate::{DequantizeRows, QuantizeRows};

/// The minimum elements of a task.
const LEAST: usize = 1 << 14;

/// Quantizes f32 rows to int8.
pub fn quantize(context: &Context<'_, '_, '_>, fields: &QuantizeRows) -> Result<()> {
    let (rows, columns) = (fields.rows as usize, fields.columns as usize);
    let mut operands = context.memory.operands();
    let input = operands.read::<f32>(fields.input, count(&[rows, columns])?)?;
    let bytes = operands.write::<i8>(*fields.output, input.len())?;
    let scales = operands.write::<RowScale>(*fields.row_scales, rows)?;
    let isa = context.isa;
    if fields.together == 1 {
        let scales = scales.slice();
        let (first, _) = scales.split_at_mut_checked(1).ok_or(Error::InvalidProgram)?;
        quantize_rows(isa, input, input.len(), bytes.slice(), first)?;
        let found = first.first().copied().ok_or(Error::InvalidProgram)?;
        scales.fill(found);
        return Ok(());
    }
    let (bytes, scales) = (Elements::new(&bytes), Elements::new(&scales));
    split::tasks(context, Chunks::new(context, rows, LEAST / columns.max(1) + 1), |chunk| {
        let part = chunk.range(rows);
        // SAFETY: tasks have disjoint rows of both output tensors, and `part` is the only access to the rows of a task.
        let (bytes, scales) =
            unsafe { (bytes.part(part.start * columns..part.end * columns), scales.part(part.clone())) };
        quantize_rows(isa, &input[part.start * columns..part.end * columns], columns, bytes, scales)
    })
}

/// Dequantizes int8 rows to f32.
pub fn dequantize(context: &Context<'_, '_, '_>, fields: &DequantizeRows) -> Result<()> {
    let (rows, columns) = (fields.rows as usize, fields.columns as usize);
    let mut operands = context.memory.operands();
    let bytes = operands.read::<i8>(fields.input, count(&[rows, columns])?)?;
    let scales = operands.read::<RowScale>(fields.row_scales, rows)?;
    let output = operands.write::<f32>(*fields.output, bytes.len())?;
    let level = context.level;
    split::runs(context, output, columns, LEAST / columns.max(1) + 1, |part, output, _| {
        let bytes = bytes.get(part.start * columns..part.end * columns).ok_or(Error::InvalidProgram)?;
        let rows = bytes.chunks_exact(columns.max(1)).zip(output.chunks_exact_mut(columns.max(1)));
        rows.zip(&scales[part]).try_for_each(|((bytes, output), scale)| {
            let from = Quantization { scale: scale.scale, zero_point: scale.zero_point };
            quantized::dequantize(level, bytes, from, output)
        })
    })
}

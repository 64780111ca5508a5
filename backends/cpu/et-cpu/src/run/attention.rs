//! Scaled dot-product attention, and batched matmul of two activation tensors.
#![allow(unsafe_code, reason = "tasks write disjoint tokens of one result")]

use et_core::{Error, Result};
use et_kernels::attention::{self, Causal, Mask, Numbers, Sizes, Slots, Strides, Tokens};

use crate::memory::Operands;
use crate::run::conv2d::LEAST;
use crate::split::{self, Chunks, Context, Elements, count, span};
use crate::{Attention, BatchMatmul, Strided};

/// Executes attention: heads are partitioned among tasks.
pub fn run(context: &Context<'_, '_, '_>, fields: &Attention) -> Result<()> {
    let sizes = sizes(fields);
    let Sizes { batches, heads, queries, keys, width, .. } = sizes;
    let mut operands = context.memory.operands();
    let query = tokens(&mut operands, &fields.query, [batches, heads, queries, width])?;
    let key = tokens(&mut operands, &fields.key, [batches, heads, keys, width])?;
    let value = tokens(&mut operands, &fields.value, [batches, heads, keys, width])?;
    let none = Mask { numbers: &[], strides: Strides::default() };
    let (mut masks, mut present) = ([none; 2], 0);
    for bias in [&fields.bias, &fields.mask] {
        if bias.place.is_present() {
            let Tokens { numbers, strides } = tokens(&mut operands, bias, [batches, heads, queries, keys])?;
            masks[present] = Mask { numbers, strides };
            present += 1;
        }
    }
    let output = strides(&fields.output);
    let dims = [(batches, output.batch), (heads, output.head), (queries, output.token), (width, 1)];
    let length = span(dims.map(|(size, _)| size), dims.map(|(_, stride)| stride))?;
    let written = operands.write::<f32>(fields.output.place, length)?;
    let stored = |tokens: Tokens<_>| Tokens { numbers: Numbers::Floats(tokens.numbers), strides: tokens.strides };
    let attention = attention::Attention {
        sizes,
        scale: fields.scale,
        soft_cap: 0.0,
        causal: fields.causal.then_some(Causal::from(0)),
        slots: Slots::of(keys),
        query,
        key: stored(key),
        value: stored(value),
        value_row: width,
        masks: &masks[..present],
        distances: None,
        sinks: None,
        output,
    };
    if !split::are_apart(dims) {
        return Err(Error::InvalidProgram);
    }
    if length == 0 {
        return Ok(());
    }
    let items = count(&[batches, heads])?;
    let (level, elements) = (context.level, Elements::new(&written));
    let work = [items, queries, keys, width].into_iter().fold(1_usize, usize::saturating_mul);
    split::tasks(context, Chunks::new(context, work, LEAST).at_most(items), |chunk| {
        let output = core::ptr::slice_from_raw_parts_mut(elements.start(), length);
        // SAFETY: `written` is the only access to the output tensor, and tasks have disjoint heads.
        unsafe { attention::run_part(level, &attention, output, chunk.range(items), numbers(chunk.workspace)) }
    })
}

/// The workspace size of attention per thread, in bytes.
pub fn workspace(fields: &Attention) -> usize {
    sizes(fields).scratch() * size_of::<f32>()
}

fn sizes(fields: &Attention) -> Sizes {
    let [batches, heads, queries, keys, width] = fields.sizes.map(|size| size as usize);
    Sizes { batches, heads, key_heads: heads, queries, keys, width, value_width: width }
}

/// A workspace as f32 elements, from the first aligned address on.
pub fn numbers(bytes: &mut [u8]) -> &mut [f32] {
    // SAFETY: every bit pattern is a valid f32.
    unsafe { bytes.align_to_mut::<f32>() }.1
}

fn tokens<'m>(operands: &mut Operands<'m, '_, '_>, heads: &Strided, sizes: [usize; 4]) -> Result<Tokens<&'m [f32]>> {
    let strides @ Strides { batch, head, token } = strides(heads);
    Ok(Tokens { numbers: operands.read(heads.place, span(sizes, [batch, head, token, 1])?)?, strides })
}

fn strides(heads: &Strided) -> Strides {
    let [batch, head, token] = heads.strides.map(|stride| stride as usize);
    Strides { batch, head, token }
}

/// Executes a batched matmul: output rows are partitioned among tasks.
pub fn batch_matmul(context: &Context<'_, '_, '_>, fields: &BatchMatmul) -> Result<()> {
    let [batches, rows, inner, columns] = fields.sizes.map(|size| size as usize);
    let strides = |matrices: &Strided| matrices.strides.map(|stride| stride as usize);
    let (of_left, of_right) = (strides(&fields.left), strides(&fields.right));
    let mut operands = context.memory.operands();
    let left = operands.read::<f32>(fields.left.place, span([batches, rows, inner], of_left)?)?;
    let right = operands.read::<f32>(fields.right.place, span([batches, inner, columns], of_right)?)?;
    let output = operands.write::<f32>(fields.output.place, count(&[batches, rows, columns])?)?;
    let least = LEAST / count(&[inner, columns])?.max(1) + 1;
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

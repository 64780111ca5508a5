//! Scaled dot-product attention.
#![allow(unsafe_code, reason = "tasks write disjoint tokens of one result")]

use et_core::{Error, Result};
use et_kernels::attention::{self, Causal, Mask, Numbers, Part, Slots, Strides, Tokens};

use crate::memory::Operands;
use crate::run::Context;
use crate::run::conv2d::LEAST;
use crate::split::{self, Chunks, Elements};
use crate::{Attention, Heads};

/// Executes the instruction: attention heads are partitioned among tasks.
pub fn run(context: &Context<'_, '_, '_>, fields: &Attention) -> Result<()> {
    let [batches, heads, queries, keys, width] = fields.sizes.map(|size| size as usize);
    let mut operands = context.memory.operands();
    let query = tokens(&mut operands, &fields.query, [batches, heads, queries, width])?;
    let key = tokens(&mut operands, &fields.key, [batches, heads, keys, width])?;
    let value = tokens(&mut operands, &fields.value, [batches, heads, keys, width])?;
    let none = Mask { numbers: &[], strides: Strides::default() };
    let (mut masks, mut count) = ([none; 2], 0);
    for bias in [&fields.bias, &fields.mask] {
        if bias.place.is_present() {
            let Tokens { numbers, strides } = tokens(&mut operands, bias, [batches, heads, queries, keys])?;
            masks[count] = Mask { numbers, strides };
            count += 1;
        }
    }
    let length = span(&fields.output, [batches, heads, queries, width])?;
    let written = operands.write::<f32>(fields.output.place, length)?;
    let attention = attention::Attention {
        batches,
        heads,
        key_heads: heads,
        queries,
        keys,
        width,
        value_width: width,
        scale: fields.scale,
        soft_cap: 0.0,
        causal: (fields.causal == 1).then_some(Causal::from(0)),
        slots: Slots::of(keys),
        query,
        key: kept(key),
        value: kept(value),
        masks: &masks[..count],
        output: strides(&fields.output),
    };
    let [batch, head, token] = fields.output.strides.map(|stride| stride as usize);
    if !split::are_apart([(batches, batch), (heads, head), (queries, token), (width, 1)]) {
        return Err(Error::InvalidProgram);
    }
    if length == 0 {
        return Ok(());
    }
    let items = batches.checked_mul(heads).ok_or(Error::InvalidProgram)?;
    let (level, elements) = (context.level, Elements::new(&written));
    let work = [items, queries, keys, width].into_iter().fold(1_usize, usize::saturating_mul);
    split::tasks(context, Chunks::new(context, work, LEAST).at_most(items), |chunk| {
        let part = Part { items: chunk.range(items), queries: 0..queries };
        let output = core::ptr::slice_from_raw_parts_mut(elements.start(), length);
        // SAFETY: `written` is the only access to the output tensor, and tasks have disjoint heads.
        unsafe { attention::run_part(level, &attention, output, &part, numbers(chunk.workspace)) }
    })
}

/// The workspace size per thread, in bytes.
pub fn workspace(fields: &Attention) -> usize {
    let [batches, heads, queries, keys, width] = fields.sizes.map(|size| size as usize);
    let tokens = Tokens { numbers: &[][..], strides: Strides::default() };
    let attention = attention::Attention {
        batches,
        heads,
        key_heads: heads,
        queries,
        keys,
        width,
        value_width: width,
        scale: fields.scale,
        soft_cap: 0.0,
        causal: None,
        slots: Slots::of(keys),
        query: tokens,
        key: kept(tokens),
        value: kept(tokens),
        masks: &[],
        output: Strides::default(),
    };
    attention::scratch(&attention, &attention.whole()) * size_of::<f32>()
}

/// A workspace as f32 elements, from the first aligned address on.
pub fn numbers(bytes: &mut [u8]) -> &mut [f32] {
    // SAFETY: every bit pattern is a valid f32.
    unsafe { bytes.align_to_mut::<f32>() }.1
}

fn tokens<'m>(operands: &mut Operands<'m, '_, '_>, heads: &Heads, sizes: [usize; 4]) -> Result<Tokens<&'m [f32]>> {
    Ok(Tokens { numbers: operands.read(heads.place, span(heads, sizes)?)?, strides: strides(heads) })
}

const fn kept(tokens: Tokens<&[f32]>) -> Tokens<Numbers<'_>> {
    Tokens { numbers: Numbers::Floats(tokens.numbers), strides: tokens.strides }
}

fn strides(heads: &Heads) -> Strides {
    let [batch, head, token] = heads.strides.map(|stride| stride as usize);
    Strides { batch, head, token }
}

/// The number of elements that the strides of a tensor span.
fn span(heads: &Heads, sizes: [usize; 4]) -> Result<usize> {
    let strides = [heads.strides[0], heads.strides[1], heads.strides[2], 1];
    let mut last = 1_usize;
    for (size, stride) in sizes.into_iter().zip(strides) {
        let Some(steps) = size.checked_sub(1) else { return Ok(0) };
        let distance = steps.checked_mul(stride as usize).ok_or(Error::InvalidProgram)?;
        last = last.checked_add(distance).ok_or(Error::InvalidProgram)?;
    }
    Ok(last)
}

//! Operators of language models: RoPE, and attention with a KV cache.
#![allow(unsafe_code, reason = "tasks write disjoint heads of one result")]

use et_core::{Error, Result};
use et_kernels::attention::{Attention, Causal, Distances, Numbers, Sizes, Slots, Strides, Tokens, attend_cache_part};
use et_kernels::rotate::{Pairing, rotate as turn};

use crate::memory::Operands;
use crate::run::attention::numbers;
use crate::run::conv2d::LEAST;
use crate::split::{self, Chunks, Context, Elements, count};
use crate::{AttendBlock, AttendCache, CacheType, Piece, Place, RotaryPairing, Rotate};

/// The position of the first row, and the index of the last row that is a token.
pub fn positions(operands: &mut Operands<'_, '_, '_>, piece: &Piece, rows: usize) -> Result<(usize, usize)> {
    let mut number = |place| match operands.read::<i64>(place, 1)? {
        [number] => usize::try_from(*number).map_err(|_| Error::InvalidArgument),
        _ => Err(Error::InvalidProgram),
    };
    let (start, last) = (number(piece.start)?, number(piece.last)?);
    let is_within = last < rows && start.checked_add(rows).is_some();
    if is_within { Ok((start, last)) } else { Err(Error::InvalidArgument) }
}

/// Executes RoPE.
pub fn rotate(context: &Context<'_, '_, '_>, fields: &Rotate) -> Result<()> {
    let [rows, heads, depth, limit, pairs] = fields.sizes.map(|size| size as usize);
    let mut operands = context.memory.operands();
    let (start, last) = positions(&mut operands, &fields.piece, rows)?;
    let row = count(&[heads, depth])?;
    let input = operands.read::<f32>(fields.input, count(&[rows, row])?)?;
    let tables = [operands.read_all::<f32>(fields.cosines)?, operands.read_all::<f32>(fields.sines)?];
    let output = operands.write::<f32>(*fields.output, input.len())?;
    if pairs.checked_mul(limit) != Some(tables[0].len()) || start + last >= limit {
        return Err(Error::InvalidArgument);
    }
    let level = context.level;
    let pairing = match fields.pairing {
        RotaryPairing::Halves => Pairing::Halves,
        RotaryPairing::Neighbours => Pairing::Neighbours,
    };
    split::runs(context, output, row, LEAST / row.max(1), |range, output, _| {
        for (row_index, output) in range.zip(output.chunks_exact_mut(row.max(1))) {
            let position = start + row_index.min(last);
            let [cosines, sines] =
                tables.map(|table| table.get(position * pairs..(position + 1) * pairs).unwrap_or_default());
            turn(level, pairing, &input[row_index * row..(row_index + 1) * row], [cosines, sines], output, depth)?;
        }
        Ok(())
    })
}

/// Executes attention with a KV cache.
pub fn attend(context: &Context<'_, '_, '_>, fields: &AttendCache) -> Result<()> {
    attend_to(context, fields, false)
}

/// Executes attention of rows that see each other, with a KV cache.
pub fn attend_block(context: &Context<'_, '_, '_>, fields: &AttendBlock) -> Result<()> {
    attend_to(context, &fields.causal, true)
}

fn attend_to(context: &Context<'_, '_, '_>, fields: &AttendCache, is_mutual: bool) -> Result<()> {
    let sizes @ Sizes { queries, heads, key_heads, keys: slots, width, value_width, .. } = sizes(fields);
    let window = if fields.window == 0 { usize::MAX } else { fields.window as usize };
    let mut operands = context.memory.operands();
    let (first, last) = positions(&mut operands, &fields.piece, queries)?;
    let query = operands.read::<f32>(fields.query, count(&[queries, heads, width])?)?;
    let key = stored(&mut operands, fields.keys, fields.cache, [slots, key_heads, width])?;
    let value = stored(&mut operands, fields.values, fields.cache, [slots, key_heads, width])?;
    let by_distance = operands.read_present(fields.distances, count(&[heads, slots])?)?;
    let distances = by_distance.map(|numbers| Distances { numbers, count: slots });
    let sinks = operands.read_present(fields.sinks, heads)?;
    let written = operands.write::<f32>(*fields.output, count(&[queries, heads, value_width])?)?;
    let attention = Attention {
        sizes,
        scale: fields.scale,
        soft_cap: fields.soft_cap,
        causal: Some(Causal { first, last, window, is_mutual }),
        slots: Slots::of(slots),
        query: Tokens { numbers: query, strides: strides(heads, width) },
        key: Tokens { numbers: key, strides: strides(key_heads, key.row(width)) },
        value: Tokens { numbers: value, strides: strides(key_heads, value.row(width)) },
        value_row: width,
        masks: &[],
        distances,
        sinks,
        output: strides(heads, value_width),
    };
    let attention = attention.in_ring()?;
    let (level, elements, items) = (context.level, Elements::new(&written), attention.sizes.cache_items());
    let work = [query.len(), (first + last + 1).min(window)].into_iter().fold(2_usize, usize::saturating_mul);
    split::tasks(context, Chunks::new(context, work, LEAST).at_most(items), |chunk| {
        let output = core::ptr::slice_from_raw_parts_mut(elements.start(), queries * heads * value_width);
        // SAFETY: `written` is the only access to the output tensor, and items are disjoint heads or rows.
        unsafe { attend_cache_part(level, &attention, output, chunk.range(items), numbers(chunk.workspace)) }
    })
}

/// The sizes of attention to all slots of the KV cache.
fn sizes(fields: &AttendCache) -> Sizes {
    let [queries, heads, key_heads, width, keys] = fields.sizes.map(|size| size as usize);
    Sizes { batches: 1, heads, key_heads, queries, keys, width, value_width: fields.columns as usize }
}

/// The strides of contiguous tokens with `heads` rows of `row` stored elements.
const fn strides(heads: usize, row: usize) -> Strides {
    Strides { batch: 0, head: row, token: heads * row }
}

/// The key cache or value cache: `slots` times `heads` rows of `width` elements.
fn stored<'m>(
    operands: &mut Operands<'m, '_, '_>,
    place: Place,
    kind: CacheType,
    [slots, heads, width]: [usize; 3],
) -> Result<Numbers<'m>> {
    let elements = |kind: Numbers<'_>| count(&[slots, heads, kind.row(width)]);
    Ok(match kind {
        CacheType::F32 => Numbers::Floats(operands.read(place, elements(Numbers::Floats(&[]))?)?),
        CacheType::F16 => Numbers::Halves(operands.read(place, elements(Numbers::Halves(&[]))?)?),
        CacheType::Int8 => Numbers::Bytes(operands.read(place, elements(Numbers::Bytes(&[]))?)?),
    })
}

/// The workspace size per thread, in bytes.
pub fn workspace(fields: &AttendCache) -> usize {
    sizes(fields).cache_scratch() * size_of::<f32>()
}

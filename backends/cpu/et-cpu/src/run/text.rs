//! Operators of language models: RoPE, and attention with a KV cache.
#![allow(unsafe_code, reason = "tasks write disjoint heads of one result")]

use et_core::{Error, Result};
use et_kernels::attention::cached::{Cached, TOGETHER, attend_part};
use et_kernels::attention::{self, Attention, Causal, Numbers, Slots, Strides, Tokens};
use et_kernels::rotate::rotate as turn;

use crate::memory::Operands;
use crate::run::Context;
use crate::run::attention::numbers;
use crate::run::conv2d::LEAST;
use crate::split::{self, Chunks, Elements};
use crate::{AttendCache, Piece, Place, Rotate};

/// The position of the first row, and the index of the last row that is a token.
fn positions(operands: &mut Operands<'_, '_, '_>, piece: &Piece, rows: usize) -> Result<(usize, usize)> {
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
    let row = heads.checked_mul(depth).ok_or(Error::InvalidProgram)?;
    let count = rows.checked_mul(row).ok_or(Error::InvalidProgram)?;
    let input = operands.read::<f32>(fields.input, count)?;
    let tables = [operands.read_all::<f32>(fields.cosines)?, operands.read_all::<f32>(fields.sines)?];
    let output = operands.write::<f32>(*fields.output, count)?;
    if pairs.checked_mul(limit) != Some(tables[0].len()) || start + last >= limit {
        return Err(Error::InvalidArgument);
    }
    let level = context.level;
    split::runs(context, output, row, LEAST / row.max(1), |range, output, _| {
        for (row_index, output) in range.zip(output.chunks_exact_mut(row.max(1))) {
            let position = start + row_index.min(last);
            let [cosines, sines] =
                tables.map(|table| table.get(position * pairs..(position + 1) * pairs).unwrap_or_default());
            turn(level, &input[row_index * row..(row_index + 1) * row], [cosines, sines], output, depth)?;
        }
        Ok(())
    })
}

/// The attention's shape without operand tensors and positions.
fn planned(fields: &AttendCache) -> Cached<'static> {
    let [rows, heads, key_heads, width, slots] = fields.sizes.map(|size| size as usize);
    let window = if fields.window == 0 { usize::MAX } else { fields.window as usize };
    let (scale, soft_cap, none) = (fields.scale, fields.soft_cap, Numbers::Floats(&[]));
    let (start, last, query, keys, values) = (0, 0, &[][..], none, none);
    Cached { rows, heads, key_heads, width, slots, start, last, window, soft_cap, scale, query, keys, values }
}

/// The dtype of the KV cache, without elements.
fn kind(fields: &AttendCache) -> Result<Numbers<'static>> {
    match fields.kept {
        0 => Ok(Numbers::Floats(&[])),
        1 => Ok(Numbers::Halves(&[])),
        2 => Ok(Numbers::Bytes(&[])),
        _ => Err(Error::InvalidProgram),
    }
}

/// `rows` rows of the key cache or value cache.
fn kept<'m>(
    operands: &mut Operands<'m, '_, '_>,
    place: Place,
    [rows, width]: [usize; 2],
    kind: Numbers<'_>,
) -> Result<Numbers<'m>> {
    let count = rows.checked_mul(kind.row(width)).ok_or(Error::InvalidProgram)?;
    Ok(match kind {
        Numbers::Floats(_) => Numbers::Floats(operands.read(place, count)?),
        Numbers::Halves(_) => Numbers::Halves(operands.read(place, count)?),
        Numbers::Bytes(_) => Numbers::Bytes(operands.read(place, count)?),
    })
}

/// Executes attention with a KV cache.
pub fn attend(context: &Context<'_, '_, '_>, fields: &AttendCache) -> Result<()> {
    let planned = planned(fields);
    let Cached { rows, heads, key_heads, width, slots, window, .. } = planned;
    let mut operands = context.memory.operands();
    let (start, last) = positions(&mut operands, &fields.piece, rows)?;
    let product = |sizes: [usize; 3]| sizes.into_iter().try_fold(1_usize, usize::checked_mul);
    let count = product([rows, heads, width]).ok_or(Error::InvalidProgram)?;
    let (kind, all) = (kind(fields)?, slots.checked_mul(key_heads).ok_or(Error::InvalidProgram)?);
    let query = operands.read::<f32>(fields.query, count)?;
    let keys = kept(&mut operands, fields.keys, [all, width], kind)?;
    let values = kept(&mut operands, fields.values, [all, width], kind)?;
    let output = operands.write::<f32>(*fields.output, count)?;
    let cached = Cached { start, last, query, keys, values, ..planned };
    let elements = Elements::new(&output);
    let output = || core::ptr::slice_from_raw_parts_mut(elements.start(), count);
    let level = context.level;
    let work = [rows, heads, width, (start + last + 1).min(window)].into_iter().fold(2_usize, usize::saturating_mul);
    // Many query rows (prefill) amortize the packing of keys.
    if rows > TOGETHER {
        let attention = piecewise(&cached)?;
        let chunks = Chunks::new(context, work, LEAST).at_most(heads);
        return split::tasks(context, chunks, |chunk| {
            let part = attention::Part { items: chunk.range(heads), queries: 0..rows };
            // SAFETY: `output` is the only access to the output tensor, and tasks have disjoint heads.
            unsafe { attention::run_part(level, &attention, output(), &part, numbers(chunk.workspace)) }
        });
    }
    let items = cached.items();
    split::tasks(context, Chunks::new(context, work, LEAST).at_most(items), |chunk| {
        // SAFETY: `output` is the only access to the output tensor, and items are disjoint heads or rows.
        unsafe { attend_part(level, &cached, output(), chunk.range(items), numbers(chunk.workspace)) }
    })
}

/// Causal attention over the positions from the first key of row 0 to the last row. Fails with [`Error::InvalidArgument`] where the
/// ring buffer has fewer slots than these positions.
fn piecewise<'a>(cached: &Cached<'a>) -> Result<Attention<'a>> {
    let Cached { rows, heads, key_heads, width, slots, start, last, window, soft_cap, scale, query, keys, values } =
        *cached;
    let (first, end) = (cached.seen(0).start, start + last + 1);
    if slots == 0 || end - first > slots {
        return Err(Error::InvalidArgument);
    }
    let row = keys.row(width);
    let strides = |heads, head| Strides { batch: 0, head, token: heads * head };
    Ok(Attention {
        batches: 1,
        heads,
        key_heads,
        queries: rows,
        keys: end - first,
        width,
        value_width: width,
        scale,
        soft_cap,
        causal: Some(Causal { first: start - first, last, window }),
        slots: Slots { first: first % slots, count: slots },
        query: Tokens { numbers: query, strides: strides(heads, width) },
        key: Tokens { numbers: keys, strides: strides(key_heads, row) },
        value: Tokens { numbers: values, strides: strides(key_heads, row) },
        masks: &[],
        output: strides(heads, width),
    })
}

/// The workspace size per thread, in bytes.
pub fn workspace(fields: &AttendCache) -> usize {
    let planned = planned(fields);
    let numbers = if planned.rows > TOGETHER {
        // A query row that sees the whole KV cache needs the largest workspace.
        let all = Cached { start: planned.slots.saturating_sub(1), window: usize::MAX, ..planned };
        piecewise(&all).map_or(0, |attention| attention::scratch(&attention, &attention.whole()))
    } else {
        planned.scratch()
    };
    numbers * size_of::<f32>()
}

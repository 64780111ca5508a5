//! Attention of rows to the rows of their own segment.
#![allow(unsafe_code, reason = "tasks write disjoint heads of one result")]

use core::ops::Range;

use et_core::{Error, Result};
use et_kernels::attention::{Attention, Numbers, Sizes, Slots, Strides, Tokens, run_part};

use crate::AttendSegments;
use crate::run::attention::numbers;
use crate::run::conv2d::LEAST;
use crate::split::{self, Chunks, Context, Elements, count};

/// Executes attention within segments: heads are partitioned among tasks.
pub fn run(context: &Context<'_, '_, '_>, fields: &AttendSegments) -> Result<()> {
    let sizes @ Sizes { queries: rows, heads, width, .. } = sizes(fields);
    let row = count(&[heads, width])?;
    let length = count(&[rows, row])?;
    let mut operands = context.memory.operands();
    let ends = operands.read::<i64>(fields.ends, rows)?;
    let [query, key, value] =
        [fields.query, fields.keys, fields.values].map(|place| operands.read::<f32>(place, length));
    let (query, key, value) = (query?, key?, value?);
    let written = operands.write::<f32>(*fields.output, length)?;
    let layout = Strides { batch: 0, head: width, token: row };
    let stored = |numbers| Tokens { numbers: Numbers::Floats(numbers), strides: layout };
    let within = |segment: &Range<usize>| {
        let part = |all| <[f32]>::get(all, segment.start * row..segment.end * row).unwrap_or_default();
        Attention {
            sizes: Sizes { queries: segment.len(), keys: segment.len(), ..sizes },
            scale: fields.scale,
            soft_cap: 0.0,
            causal: None,
            slots: Slots::of(segment.len()),
            query: Tokens { numbers: part(query), strides: layout },
            key: stored(part(key)),
            value: stored(part(value)),
            value_row: width,
            masks: &[],
            distances: None,
            sinks: None,
            output: layout,
        }
    };
    let (level, elements) = (context.level, Elements::new(&written));
    let work = length.saturating_mul(segment_of(ends, 0)?.len());
    split::tasks(context, Chunks::new(context, work, LEAST).at_most(heads), |chunk| {
        let own_heads = chunk.range(heads);
        let scratch = numbers(chunk.workspace);
        let mut start = 0;
        while start < rows {
            let segment = segment_of(ends, start)?;
            let output = elements.start().wrapping_add(start * row);
            let output = core::ptr::slice_from_raw_parts_mut(output, segment.len() * row);
            // SAFETY: `written` is the only access to the output tensor, of which a segment is a part, and tasks have disjoint heads.
            unsafe { run_part(level, &within(&segment), output, own_heads.clone(), &mut *scratch)? };
            start = segment.end;
        }
        Ok(())
    })
}

/// The segment that starts at a row; an empty range behind the last row.
fn segment_of(ends: &[i64], start: usize) -> Result<Range<usize>> {
    let Some(first) = ends.get(start) else { return Ok(start..start) };
    let end = usize::try_from(*first).unwrap_or(0);
    let is_one = end > start && ends.get(start..end).is_some_and(|ends| ends.iter().all(|end| end == first));
    if is_one { Ok(start..end) } else { Err(Error::InvalidArgument) }
}

fn sizes(fields: &AttendSegments) -> Sizes {
    let [rows, heads, width] = fields.sizes.map(|size| size as usize);
    Sizes { batches: 1, heads, key_heads: heads, queries: rows, keys: rows, width, value_width: width }
}

/// The workspace size per thread, in bytes.
pub fn workspace(fields: &AttendSegments) -> usize {
    sizes(fields).scratch() * size_of::<f32>()
}

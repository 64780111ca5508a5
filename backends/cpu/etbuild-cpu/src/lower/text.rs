//! Operators of language models: RoPE, attention with a KV cache, and the logits row of the last token.

use et_core::ScalarType;
use et_cpu::{AttendBlock, AttendCache, AttendSegments, CacheType, Gather, Piece, Place, RotaryPairing, Rotate, Write};
use etbuild_backend::{RefusalKind, floats};
use etbuild_ir::ValueId;

use crate::Problem;
use crate::builder::{Builder, place, slot};
use crate::capability::{Checked, ensure};
use crate::lower::Lowered;
use crate::tensor::FLOAT;
use crate::tensor::Tensor;
use etbuild_backend::Call;

/// The bytes of a scale behind an int8 row of the KV cache.
const SCALE: usize = size_of::<f32>();

/// Checks RoPE.
pub fn rotate_check(call: &Call<'_>) -> Checked {
    let is_supported = || {
        let [input, cosines, sines] = [0, 1, 2].map(|index| call.value(index).map(|id| call.sizes(id)).ok());
        let (input, cosines, sines) = (input?, cosines?, sines?);
        let (rows, depth) = (input.split_last_chunk::<3>()?.0, input.last()?);
        let fits = rows.iter().all(|size| *size == 1) && cosines == sines && cosines.len() == 2;
        Some(fits && 2 * cosines.last()? <= *depth)
    };
    shaped(call, &[0, 1, 2], is_supported(), "it rotates one text of rows, heads and depth")
}

/// Checks attention with a KV cache, whose scores may have numbers by distance.
pub fn attend_cache_check(call: &Call<'_>) -> Checked {
    let distances = call.optional_value(SLOPES).ok().flatten();
    let is_known = distances.is_none_or(|id| {
        let spec = call.graph.spec(id);
        spec.scalar_type == FLOAT && call.graph.constant(id).is_some()
    });
    ensure(is_known, RefusalKind::Argument, "its scores have slopes or numbers by distance that are not constant")?;
    // Slopes are factors of positions, and numbers by distance the same but for a term of a row, which softmax drops without a sink.
    let has_slopes = distances.is_some_and(|id| call.graph.spec(id).rank() == 1);
    let has_sinks = !matches!(call.optional_value(SINKS), Ok(None));
    ensure(!(has_slopes && has_sinks), RefusalKind::Argument, "its scores have slopes and sinks")?;
    attend_check(call)
}

/// Checks attention of rows that see each other, with a KV cache.
pub fn attend_block_check(call: &Call<'_>) -> Checked {
    let is_plain = matches!(call.optional_value(SLOPES), Ok(None));
    ensure(is_plain, RefusalKind::Argument, "its scores have slopes")?;
    attend_check(call)
}

/// The position of the argument with slopes, or with numbers by distance.
const SLOPES: usize = 8;
/// The position of the argument with sinks.
const SINKS: usize = 9;
/// The position of the number of first elements of a value that count.
const COLUMNS: usize = 10;

fn attend_check(call: &Call<'_>) -> Checked {
    let types = [1, 2].map(|index| call.value(index).ok().map(|id| call.graph.spec(id).scalar_type));
    let is_supported = || {
        let [query, keys, values] = [0, 1, 2].map(|index| call.value(index).map(|id| call.sizes(id)).ok());
        let (query, keys, values) = (query?, keys?, values?);
        let ([1, _, heads, depth], [1, _, own, key_depth]) = (&query[..], &keys[..]) else { return None };
        let row = depth + if types[0] == Some(ScalarType::Char) { SCALE } else { 0 };
        let is_within = columns(call, *depth).ok()? <= *depth;
        Some(keys == values && row == *key_depth && *own > 0 && heads % own == 0 && is_within)
    };
    let sinks = call.optional_value(SINKS).ok().flatten();
    let are_float = sinks.is_none_or(|id| call.graph.spec(id).scalar_type == FLOAT);
    ensure(are_float, RefusalKind::Type, "its sinks are not float32")?;
    let is_narrow = types[0] == types[1] && matches!(types[0], Some(ScalarType::Half | ScalarType::Char));
    let floats = if is_narrow { &[0][..] } else { &[0, 1, 2] };
    shaped(call, floats, is_supported(), "it attends to one cache, whose keys are as wide as its values")
}

/// The first elements of a value that count, of `depth` elements.
fn columns(call: &Call<'_>, depth: usize) -> Result<usize, Problem> {
    let asked = call.int(COLUMNS)?.and_then(|columns| usize::try_from(columns).ok());
    Ok(asked.filter(|columns| *columns > 0).unwrap_or(depth))
}

/// Checks attention within segments.
pub fn segments_check(call: &Call<'_>) -> Checked {
    let sizes = [0, 1, 2].map(|index| call.value(index).map(|id| call.sizes(id)).ok());
    let is_alike = matches!(&sizes, [Some(query), Some(keys), Some(values)] if query == keys && query == values);
    let is_single = matches!(sizes[0].as_deref(), Some([1, _, _, _]));
    shaped(call, &[0, 1, 2], Some(is_alike && is_single), "it attends within one batch, to as many keys as queries")
}

/// Checks row selection: along a dimension whose outer dimensions all have size 1.
pub fn index_check(call: &Call<'_>) -> Checked {
    let is_supported = || {
        let sizes = call.sizes(call.value(0).ok()?);
        let along = call.dim(1, sizes.len()).ok()?;
        let index = call.graph.spec(call.value(2).ok()?);
        Some(index.scalar_type == ScalarType::Long && sizes.get(..along)?.iter().all(|size| *size == 1))
    };
    shaped(call, &[0], is_supported(), "it selects rows of the outermost dimension by 64-bit indices")
}

/// A supported shape, and f32 operands at these positions.
fn shaped(call: &Call<'_>, floats: &[usize], is_supported: Option<bool>, shape: &str) -> Checked {
    ensure(is_supported == Some(true), RefusalKind::Shape, shape)?;
    let is_float = |index: &usize| call.value(*index).is_ok_and(|id| call.graph.spec(id).scalar_type == FLOAT);
    ensure(floats.iter().all(is_float), RefusalKind::Type, "it computes in float32")
}

/// The positions of rows from two arguments, the first at `first`.
pub fn piece(builder: &mut Builder<'_>, call: &Call<'_>, first: usize) -> Result<Piece, Problem> {
    let (start, last) = (builder.tensor(call.value(first)?)?, builder.tensor(call.value(first + 1)?)?);
    Ok(Piece { start: place(&start), last: place(&last) })
}

/// RoPE: `(input, cosines, sines, start, last, interleaved)`.
pub fn rotate(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let [input, cosines, sines] = [0, 1, 2].map(|index| builder.dense(call.value(index)?));
    let (input, cosines, sines) = (input?, cosines?, sines?);
    let output = builder.row_major(FLOAT, &input.sizes);
    let ([.., rows, heads, depth], [limit, pairs]) = (&input.sizes[..], &cosines.sizes[..]) else {
        return Err(Problem::Arguments);
    };
    let rotate = Rotate {
        input: place(&input),
        output: Write(place(&output)),
        cosines: slot(&cosines),
        sines: slot(&sines),
        piece: piece(builder, &call, 3)?,
        sizes: [*rows, *heads, *depth, *limit, *pairs].map(|size| size as u32),
        pairing: if call.flag(5)? { RotaryPairing::Neighbours } else { RotaryPairing::Halves },
    };
    builder.emit(rotate);
    Ok(Some(output))
}

/// Attention with a KV cache: `(query, keys, values, start, last, scale, window, soft_cap, distances, sinks, columns)`.
pub fn attend_cache(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (attend, output) = attend(builder, &call)?;
    builder.emit(attend);
    Ok(Some(output))
}

/// Attention of rows that see each other, with the arguments of [`attend_cache`].
pub fn attend_block(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (causal, output) = attend(builder, &call)?;
    builder.emit(AttendBlock { causal });
    Ok(Some(output))
}

/// The instruction of attention, and its output.
fn attend(builder: &mut Builder<'_>, call: &Call<'_>) -> Result<(AttendCache, Tensor), Problem> {
    let [query, keys, values] = [0, 1, 2].map(|index| builder.dense(call.value(index)?));
    let (query, keys, values) = (query?, keys?, values?);
    let ([_, rows, heads, depth], [_, slots, own, _]) = (&query.sizes[..], &keys.sizes[..]) else {
        return Err(Problem::Arguments);
    };
    let columns = columns(call, *depth)?;
    let output = builder.row_major(FLOAT, &[1, *rows, *heads, columns]);
    let attend = AttendCache {
        query: place(&query),
        keys: place(&keys),
        values: place(&values),
        output: Write(place(&output)),
        piece: piece(builder, call, 3)?,
        sizes: [*rows, *heads, *own, *depth, *slots].map(|size| size as u32),
        columns: columns as u32,
        scale: call.number(5)?.ok_or(Problem::Arguments)? as f32,
        window: u32::try_from(call.int(6)?.unwrap_or(0)).unwrap_or(0),
        soft_cap: call.number(7)?.unwrap_or(0.0) as f32,
        cache: match keys.scalar_type {
            ScalarType::Half => CacheType::F16,
            ScalarType::Char => CacheType::Int8,
            _ => CacheType::F32,
        },
        distances: match call.optional_value(SLOPES)? {
            Some(id) => distances(builder, id, [*heads, *slots])?,
            None => Place::ABSENT,
        },
        sinks: builder.optional(call.optional_value(SINKS)?)?,
    };
    Ok((attend, output))
}

/// The numbers `[heads, slots]` by distance, the nearest last, of a table `[heads, distances]` with the nearest first, or of slopes `[heads]`.
/// The last number of the table is that of all larger distances.
fn distances(builder: &mut Builder<'_>, table: ValueId, [heads, slots]: [usize; 2]) -> Result<Place, Problem> {
    let numbers = floats(builder.links, table).ok_or(Problem::Arguments)?;
    let count = numbers.len() / heads.max(1);
    if count == 0 || numbers.len() != heads * count {
        return Err(Problem::Arguments);
    }
    let are_slopes = builder.links.graph.spec(table).rank() == 1;
    let number = |row: &[f32], distance: usize| match are_slopes {
        true => -row[0] * distance as f32,
        false => row[distance.min(count - 1)],
    };
    let turned = numbers.chunks(count).flat_map(|row| (0..slots).rev().map(move |distance| (row, distance)));
    let turned = turned.map(|(row, distance)| number(row, distance));
    Ok(place(&builder.constant(turned, &[heads, slots])))
}

/// Attention within segments: `(query, keys, values, ends, scale)`.
pub fn attend_segments(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let [query, keys, values, ends] = [0, 1, 2, 3].map(|index| builder.dense(call.value(index)?));
    let (query, keys, values, ends) = (query?, keys?, values?, ends?);
    let output = builder.row_major(FLOAT, &query.sizes);
    let [_, rows, heads, depth] = query.sizes[..] else { return Err(Problem::Arguments) };
    builder.emit(AttendSegments {
        query: place(&query),
        keys: place(&keys),
        values: place(&values),
        output: Write(place(&output)),
        ends: place(&ends),
        sizes: [rows, heads, depth].map(|size| size as u32),
        scale: call.number(4)?.ok_or(Problem::Arguments)? as f32,
    });
    Ok(Some(output))
}

/// Row selection: `(input, dim, index)`.
pub fn index_select(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (input, indices) = (builder.dense(call.value(0)?)?, builder.dense(call.value(2)?)?);
    let along = call.dim(1, input.rank())?;
    gather(builder, &call, &input, along, &indices)
}

/// Gathers indices of a dimension of a contiguous tensor; all outer dimensions have size 1.
pub fn gather(builder: &mut Builder<'_>, call: &Call<'_>, table: &Tensor, along: usize, indices: &Tensor) -> Lowered {
    let width: usize = table.sizes.iter().skip(along + 1).product();
    let output = builder.row_major(table.scalar_type, &call.output_sizes()?);
    builder.emit(Gather {
        table: place(table),
        indices: place(indices),
        output: Write(place(&output)),
        limit: *table.sizes.get(along).ok_or(Problem::Arguments)? as u32,
        count: indices.numel() as u32,
        width: (width * table.scalar_type.size()) as u32,
    });
    Ok(Some(output))
}

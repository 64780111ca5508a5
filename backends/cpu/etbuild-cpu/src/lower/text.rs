//! Operators of language models: RoPE, attention with a KV cache, and the logits row of the last token.

use et_core::ScalarType;
use et_cpu::{AttendCache, Gather, Piece, Rotate, Write};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::ValueId;

use crate::Problem;
use crate::builder::{Builder, place, slot};
use crate::call::Call;
use crate::lower::{FLOAT, Lowered};
use crate::tensor::Tensor;

/// The bytes of a scale behind an int8 row of the KV cache.
const SCALE: usize = size_of::<f32>();

/// Checks RoPE.
pub fn rotate_check(call: &Call<'_>) -> Option<Refusal> {
    let is_refused = || {
        let sizes = [0, 1, 2].map(|index| call.value(index).map(|id| call.sizes(id)));
        let [Ok(input), Ok(cosines), Ok(sines)] = sizes else { return None };
        let (rows, depth) = (input.split_last_chunk::<3>()?.0, input.last()?);
        let fits = rows.iter().all(|size| *size == 1) && cosines == sines && cosines.len() == 2;
        (fits && 2 * cosines.last()? <= *depth).then_some(())
    };
    refused(call, &[0, 1, 2], is_refused().is_none(), "it rotates one text of rows, heads and depth")
}

/// Checks attention with a KV cache.
pub fn attend_check(call: &Call<'_>) -> Option<Refusal> {
    let types = [1, 2].map(|index| call.value(index).ok().map(|id| call.graph.spec(id).scalar_type));
    let is_taken = || {
        let sizes = [0, 1, 2].map(|index| call.value(index).map(|id| call.sizes(id)));
        let [Ok(query), Ok(keys), Ok(values)] = sizes else { return None };
        let ([1, _, heads, depth], [1, _, own, key_depth]) = (&query[..], &keys[..]) else { return None };
        let row = depth + if types[0] == Some(ScalarType::Char) { SCALE } else { 0 };
        (keys == values && row == *key_depth && *own > 0 && heads % own == 0).then_some(())
    };
    let is_narrow = types[0] == types[1] && matches!(types[0], Some(ScalarType::Half | ScalarType::Char));
    let floats = if is_narrow { &[0][..] } else { &[0, 1, 2] };
    refused(call, floats, is_taken().is_none(), "it attends to one cache, whose keys are as wide as its values")
}

/// Checks row selection: along a dimension whose outer dimensions all have size 1.
pub fn index_check(call: &Call<'_>) -> Option<Refusal> {
    let is_taken = || {
        let sizes = call.sizes(call.value(0).ok()?);
        let along = call.dim(1, sizes.len()).ok()?;
        let index = call.graph.spec(call.value(2).ok()?);
        (index.scalar_type == ScalarType::Long && sizes.get(..along)?.iter().all(|size| *size == 1)).then_some(())
    };
    refused(call, &[0], is_taken().is_none(), "it selects rows of the outermost dimension by 64-bit indices")
}

/// A refusal for an unsupported shape, or for operands that are not contiguous f32.
fn refused(call: &Call<'_>, floats: &[usize], is_odd: bool, shape: &str) -> Option<Refusal> {
    let spec = |index: &usize| call.value(*index).ok().map(|id| call.graph.spec(id));
    if is_odd {
        return Some(Refusal::new(RefusalKind::Shape, shape));
    }
    let is_float = floats.iter().all(|index| spec(index).is_some_and(|spec| spec.scalar_type == FLOAT));
    (!is_float).then(|| Refusal::new(RefusalKind::Type, "it computes in float32"))
}

fn piece(builder: &mut Builder<'_>, call: &Call<'_>, first: usize) -> Result<Piece, Problem> {
    let (start, last) = (builder.tensor(call.value(first)?)?, builder.tensor(call.value(first + 1)?)?);
    Ok(Piece { start: place(&start), last: place(&last) })
}

/// A value in row-major order.
fn dense(builder: &mut Builder<'_>, id: ValueId) -> Result<Tensor, Problem> {
    let tensor = builder.tensor(id)?;
    Ok(builder.in_row_major(tensor))
}

/// RoPE: `(input, cosines, sines, start, last)`.
pub fn rotate(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let [input, cosines, sines] = [0, 1, 2].map(|index| dense(builder, call.value(index)?));
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
    };
    builder.emit(rotate);
    builder.set(call.output()?, output);
    Ok(())
}

/// Attention with a KV cache: `(query, keys, values, start, last, scale, window, soft_cap)`.
pub fn attend_cache(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let [query, keys, values] = [0, 1, 2].map(|index| dense(builder, call.value(index)?));
    let (query, keys, values) = (query?, keys?, values?);
    let output = builder.row_major(FLOAT, &query.sizes);
    let ([_, rows, heads, depth], [_, slots, own, _]) = (&query.sizes[..], &keys.sizes[..]) else {
        return Err(Problem::Arguments);
    };
    let attend = AttendCache {
        query: place(&query),
        keys: place(&keys),
        values: place(&values),
        output: Write(place(&output)),
        piece: piece(builder, &call, 3)?,
        sizes: [*rows, *heads, *own, *depth, *slots].map(|size| size as u32),
        scale: call.number(5)?.ok_or(Problem::Arguments)? as f32,
        window: u32::try_from(call.int(6)?.unwrap_or(0)).unwrap_or(0),
        soft_cap: call.number(7)?.unwrap_or(0.0) as f32,
        kept: match keys.scalar_type {
            ScalarType::Half => 1,
            ScalarType::Char => 2,
            _ => 0,
        },
    };
    builder.emit(attend);
    builder.set(call.output()?, output);
    Ok(())
}

/// Row selection: `(input, dim, index)`.
pub fn index_select(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (input, indices) = (dense(builder, call.value(0)?)?, dense(builder, call.value(2)?)?);
    let along = call.dim(1, input.rank())?;
    let width: usize = input.sizes.iter().skip(along + 1).product();
    let output = builder.row_major(input.scalar_type, &call.output_sizes()?);
    let gather = Gather {
        table: place(&input),
        indices: place(&indices),
        output: Write(place(&output)),
        limit: input.sizes[along] as u32,
        count: indices.numel() as u32,
        width: (width * input.scalar_type.size()) as u32,
    };
    builder.emit(gather);
    builder.set(call.output()?, output);
    Ok(())
}

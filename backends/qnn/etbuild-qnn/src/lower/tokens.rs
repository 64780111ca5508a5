//! Language models: rotary position embedding, and attention to a KV cache, in fp16.

use et_core::ScalarType;
use et_qnn::{Ring, Span};
use etbuild_backend::{Call, Refusal, RefusalKind};

use crate::builder::{Builder, FLOAT, Order};
use crate::encoding::Encoding;
use crate::program::{Parameter, TensorId};

use super::stage::Stage;
use super::view::moved;
use super::{Done, no_arguments};

/// Rotary position embedding of `[1, rows, heads, depth]`: pairs of elements turn by the angles of the row's position.
pub fn rotate(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let [1, rows, _, depth] = builder.sizes(input, Order::RowMajor)[..] else {
        return Err(Refusal::new(RefusalKind::Shape, "the rows of the rotation are not of one sequence"));
    };
    let pairs = builder.sizes(call.value(1)?, Order::RowMajor).get(1).copied().ok_or_else(no_arguments)?;
    if 2 * pairs > depth || pairs == 0 {
        return Err(no_arguments());
    }
    let span = builder.span([call.value(3)?, call.value(4)?], rows as usize)?;
    let [cosines, sines] = [1, 2].map(|table| builder.at_positions(call.value(table)?, span));
    let (cosines, sines) = (cosines?, sines?);
    let source = builder.take(input, Encoding::Float, Order::RowMajor)?;
    let sizes = builder.sizes(input, Order::RowMajor);
    let is_interleaved = call.flag(5)?;
    let mut stage = Stage { builder, name: output };
    let [cosines, sines] = [cosines, sines].map(|angles| stage.make("Reshape", &[angles], &[1, rows, 1, pairs]));
    let halves =
        if is_interleaved { [[0, 2 * pairs, 2], [1, 2 * pairs, 2]] } else { [[0, pairs, 1], [pairs, 2 * pairs, 1]] };
    let [left, right] = halves.map(|half| stage.elements(source, half));
    let turned = turned(&mut stage, [left, right], [cosines, sines]);
    let rotated = pairwise(&mut stage, turned, &sizes[..3], pairs, is_interleaved);
    let result = if 2 * pairs == depth {
        rotated
    } else {
        let rest = stage.elements(source, [2 * pairs, depth, 1]);
        stage.joined(&[rotated, rest], 3, &sizes)
    };
    builder.store(output, FLOAT, result);
    Ok(())
}

/// `[left cos - right sin, right cos + left sin]`.
fn turned(stage: &mut Stage<'_, '_>, [left, right]: [TensorId; 2], [cosines, sines]: [TensorId; 2]) -> [TensorId; 2] {
    let sizes = stage.builder.program.get(left).sizes.clone();
    let combined =
        [("ElementWiseSubtract", [left, cosines], [right, sines]), ("ElementWiseAdd", [right, cosines], [left, sines])];
    combined.map(|(type_name, one, other)| {
        let products = [one, other].map(|operands| stage.make("ElementWiseMultiply", &operands, &sizes));
        stage.make(type_name, &products, &sizes)
    })
}

/// Joins the halves of heads: the second half behind the first, or elements interleaved.
fn pairwise(
    stage: &mut Stage<'_, '_>,
    halves: [TensorId; 2],
    outer: &[u32],
    pairs: u32,
    is_interleaved: bool,
) -> TensorId {
    let sizes = [outer, &[2 * pairs]].concat();
    if !is_interleaved {
        return stage.joined(&halves, 3, &sizes);
    }
    let columns = halves.map(|half| stage.make("Reshape", &[half], &[outer, &[pairs, 1]].concat()));
    let joined = stage.joined(&columns, 4, &[outer, &[pairs, 2]].concat());
    stage.make("Reshape", &[joined], &sizes)
}

/// Rows for a KV cache: an output of the graph, whose tokens the device writes to their slots.
pub fn write(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    builder.write(call.node)?.map(|_| ()).ok_or_else(no_arguments)
}

/// Attention to a KV cache.
struct Attention {
    rows: u32,
    /// The heads of keys and values.
    heads: u32,
    /// The query heads that share a head of keys.
    group: u32,
    depth: u32,
    /// The keys that a row may see.
    keys: u32,
    width: u32,
    scale: f64,
    soft_cap: f64,
}

/// `softmax(query key^T scale + mask) value` over the KV cache before the call and the rows of the call.
pub fn attend(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (query, output) = (call.value(0)?, call.output()?);
    if [8, 9].into_iter().any(|index| !matches!(call.optional_value(index), Ok(None))) {
        return Err(Refusal::new(RefusalKind::Argument, "its scores have slopes or sinks"));
    }
    if call.int(10)?.is_some_and(|columns| columns > 0) {
        return Err(Refusal::new(RefusalKind::Argument, "its values are the beginnings of keys"));
    }
    let [1, rows, query_heads, depth] = builder.sizes(query, Order::RowMajor)[..] else {
        return Err(Refusal::new(RefusalKind::Shape, "the queries are not of one sequence"));
    };
    let [keys, values] = [1, 2].map(|position| builder.cache(call.value(position)?));
    let (keys, values) = (keys?, values?);
    let (span, ring) = (keys.span, keys.ring);
    let window = u32::try_from(call.int(6)?.unwrap_or(0)).map_err(|_| no_arguments())?;
    let [keys, values] = [builder.keys(keys)?, builder.keys(values)?];
    let (of_keys, of_values) = (&builder.program.get(keys).sizes, &builder.program.get(values).sizes);
    let (heads, width) = (of_keys[1], of_values[3]);
    let group = query_heads.checked_div(heads).ok_or_else(no_arguments)?;
    let (scale, soft_cap) = (call.number(5)?.unwrap_or(1.0), call.number(7)?.unwrap_or(0.0));
    let attention = Attention { rows, heads, group, depth, keys: ring.read + rows, width, scale, soft_cap };
    let mask = builder.mask(span, Ring { window, ..ring });
    let query = builder.take(query, Encoding::Float, Order::RowMajor)?;
    let result = attention.lower(&mut Stage { builder, name: output }, [query, keys, values, mask]);
    builder.store(output, FLOAT, result);
    Ok(())
}

impl Attention {
    fn lower(&self, stage: &mut Stage<'_, '_>, [query, keys, values, mask]: [TensorId; 4]) -> TensorId {
        let Self { rows, heads, group, keys: all, width, .. } = *self;
        let query = self.by_head(stage, query);
        let flat = [1, heads, group * rows, all];
        let scores = stage.scores([query, keys], &flat);
        let scores = self.capped(stage, scores);
        let apart = [heads, group, rows, all];
        let scores = stage.make("Reshape", &[scores], &apart);
        let scores = stage.make("ElementWiseAdd", &[scores, mask], &apart);
        let shares = stage.softmax(scores);
        let shares = stage.make("Reshape", &[shares], &flat);
        let sums = stage.make("MatMul", &[shares, values], &[1, heads, group * rows, width]);
        let sums = stage.make("Reshape", &[sums], &[heads, group, rows, width]);
        let by_row = stage.permuted(sums, [2, 0, 1, 3], &[rows, heads, group, width]);
        stage.make("Reshape", &[by_row], &[1, rows, heads * group, width])
    }

    /// The scaled queries, `[1, heads, group * rows, depth]`. Queries are scaled, which keeps products within fp16.
    fn by_head(&self, stage: &mut Stage<'_, '_>, query: TensorId) -> TensorId {
        let Self { rows, heads, group, depth, .. } = *self;
        let scaled = stage.scaled(query, self.scale);
        let apart = stage.make("Reshape", &[scaled], &[rows, heads, group, depth]);
        let moved = stage.permuted(apart, [1, 2, 0, 3], &[heads, group, rows, depth]);
        stage.make("Reshape", &[moved], &[1, heads, group * rows, depth])
    }

    /// `tanh(score / cap) cap`, where there is a cap.
    fn capped(&self, stage: &mut Stage<'_, '_>, scores: TensorId) -> TensorId {
        if self.soft_cap <= 0.0 {
            return scores;
        }
        let sizes = stage.builder.program.get(scores).sizes.clone();
        let small = stage.scaled(scores, self.soft_cap.recip());
        let bent = stage.make("Tanh", &[small], &sizes);
        stage.scaled(bent, self.soft_cap)
    }
}

/// The row of the last token.
pub fn select_row(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, index, output) = (call.value(0)?, call.value(2)?, call.output()?);
    let sizes = call.sizes(input);
    let axis = call.dim(1, sizes.len())?;
    let spec = call.graph.spec(index);
    let is_runtime = call.graph.constant(index).is_none() && spec.numel() == 1 && spec.scalar_type == ScalarType::Long;
    if !is_runtime {
        return Err(Refusal::new(RefusalKind::Argument, "the index is not one number of the call"));
    }
    let rows = sizes.get(axis).copied().ok_or_else(no_arguments)?;
    let span = Span { last: builder.argument(index)?, rows: rows as u32, ..Span::default() };
    let row = builder.last_row(span);
    let (source, form) = moved(builder, input, Order::RowMajor)?;
    builder.compute("Gather", vec![("axis", Parameter::Int32(axis as i32))], vec![source, row], (output, form));
    Ok(())
}

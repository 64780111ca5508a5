//! Language models: rotary position embedding, and attention to a KV cache.

use et_core::ScalarType;
use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::ValueId;

use crate::builder::Builder;
use crate::expr::{ExprId, Fold, IndexOp};
use crate::product::{self, Limits, Product, RightTexel};
use crate::sharing::folds_by_row;
use crate::store::RowWrite;
use crate::tensor::TEXEL;
use crate::types::Type;

use super::norm::statistic;
use super::product::sliced;
use super::{Done, no_arguments};

/// An integer tensor of one element.
fn number(builder: &mut Builder<'_>, call: &Call<'_>, position: usize) -> Result<ExprId, Refusal> {
    let id = call.value(position)?;
    let source = builder.repeated(id)?;
    let source = builder.exprs.cast(source, Type::Int);
    Ok(builder.exprs.broadcast(source, &call.sizes(id), &[]))
}

/// Rotary position embedding of `[..., row, head, element]`: pairs of elements turn by the angles of the row's position.
pub fn rotate(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, cosines, sines) = (call.value(0)?, call.value(1)?, call.value(2)?);
    let (rank, pairs, interleaved) = (call.sizes(input).len(), call.sizes(cosines)[1], call.flag(5)?);
    if builder.ty(input)? != Type::Float {
        return Err(Refusal::new(RefusalKind::Type, "the rotation is computed in float32"));
    }
    let (start, last) = (number(builder, &call, 3)?, number(builder, &call, 4)?);
    let mut at = builder.exprs.coordinates(rank);
    let (row, element) = (at[rank - 3], at[rank - 1]);
    let position = builder.exprs.apply("({0} + min({1}, {2}))", &[start, row, last], Type::Int);
    // A norm that is not stored has a row's folds, which the kernel of the rotation computes once.
    let (normalized, column) = (builder.value(input)?, rank - 1);
    let depth = *call.sizes(input).last().ok_or_else(no_arguments)?;
    let is_whole = depth == 2 * pairs;
    let is_normalized = builder.exprs.folds(normalized) && folds_by_row(&builder.exprs, normalized, column);
    let source = match (is_normalized, is_whole) {
        (true, true) => normalized,
        (true, false) => sliced(builder, input, column)?,
        (false, _) => builder.repeated(input)?,
    };
    let tables = [builder.repeated(cosines)?, builder.repeated(sines)?];
    let (lower, two) = (builder.exprs.int(pairs), builder.exprs.int(2));
    let of_pair = if interleaved { builder.exprs.index(IndexOp::Div, element, two) } else { element };
    let pair = builder.exprs.index(IndexOp::Rem, of_pair, lower);
    let angles = tables.map(|table| builder.exprs.at(table, &[position, pair]));
    // The half of an element decides for whole texels where it can.
    let unit = if pairs.is_multiple_of(TEXEL) && !interleaved { TEXEL } else { 1 };
    let step = builder.exprs.int(unit);
    let slice = builder.exprs.index(IndexOp::Div, element, step);
    let [half, whole] = [pairs / unit, 2 * pairs / unit].map(|size| builder.exprs.int(size));
    let is_left = if interleaved {
        let (side, one) = (builder.exprs.index(IndexOp::Rem, element, two), builder.exprs.int(1));
        builder.exprs.apply("({0} < {1})", &[side, one], Type::Bool)
    } else {
        builder.exprs.apply("({0} < {1})", &[slice, half], Type::Bool)
    };
    let is_turned = builder.exprs.apply("({0} < {1})", &[slice, whole], Type::Bool);
    let (step, distance) = if interleaved { (2, 1) } else { (1, pairs) };
    at[rank - 1] = if interleaved { builder.exprs.linear(&[pair], &[step], 0) } else { pair };
    let left = builder.exprs.at(source, &at);
    at[rank - 1] = builder.exprs.linear(&[pair], &[step], distance);
    let right = builder.exprs.at(source, &at);
    let parts = [left, right, angles[0], angles[1], is_left];
    let template = "select({1} * {2} + {0} * {3}, {0} * {2} - {1} * {3}, {4})";
    let turned = builder.exprs.apply(template, &parts, Type::Float);
    let expr = if is_whole { turned } else { builder.exprs.choose(is_turned, turned, source) };
    let output = call.output()?;
    match is_normalized && is_whole {
        true => builder.set_folded_rows(output, expr),
        false => builder.set(output, expr),
    }
}

/// `write_cache`: rows `[batch, row, head, element]` to the slots of their positions, in the memory of the cache.
pub fn write(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (cache, rows) = (call.value(0)?, call.value(1)?);
    let ([_, slots, heads, depth], [batch, count, ..]) = (&call.sizes(cache)[..], &call.sizes(rows)[..]) else {
        return Err(no_arguments());
    };
    let scalar_type = call.graph.spec(cache).scalar_type;
    let is_whole = depth.is_multiple_of(TEXEL) && scalar_type == ScalarType::Half;
    if builder.ty(rows)? != Type::Float || !(scalar_type == ScalarType::Float || is_whole) {
        return Err(Refusal::new(RefusalKind::Type, "the cache is neither float32 nor float16"));
    }
    let (start, last) = (number(builder, &call, 2)?, number(builder, &call, 3)?);
    let source = builder.repeated(rows)?;
    let row = builder.exprs.coordinate(1);
    let position = builder.exprs.apply("({0} + {1})", &[start, row], Type::Int);
    let slots = builder.exprs.int(*slots);
    let write = RowWrite {
        sizes: vec![*batch, *count, *heads, *depth],
        rows: source,
        dim: 1,
        slot: builder.exprs.index(IndexOp::Rem, position, slots),
        is_written: builder.exprs.apply("({0} <= {1})", &[row, last], Type::Bool),
    };
    builder.write_state(cache, call.output()?, &write)
}

/// Attention to a KV cache.
struct Attention {
    /// Batch, rows, heads and depth of the queries.
    query: [usize; 4],
    slots: usize,
    /// The query heads that share a head of the cache.
    shared: usize,
    /// The width of the values.
    width: usize,
    /// The position of the first row, and the last row that holds a token.
    start: ExprId,
    last: ExprId,
    /// The slots that are used.
    used: ExprId,
    /// The positions that a row sees; 0 for all.
    window: usize,
    soft_cap: f64,
    scale: f64,
}

/// `attend_cache`: the scores are `[batch, head, row, slot]`.
pub fn attend(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let [query, keys, values, output] = [call.value(0)?, call.value(1)?, call.value(2)?, call.output()?];
    if [8, 9].into_iter().any(|index| !matches!(call.optional_value(index), Ok(None))) {
        return Err(Refusal::new(RefusalKind::Argument, "its scores have slopes or sinks"));
    }
    if call.int(10)?.is_some_and(|columns| columns > 0) {
        return Err(Refusal::new(RefusalKind::Argument, "its values are the beginnings of keys"));
    }
    let is_float = |id| matches!(call.graph.spec(id).scalar_type, ScalarType::Float | ScalarType::Half);
    if ![query, keys, values].into_iter().all(is_float) {
        return Err(Refusal::new(RefusalKind::Type, "queries and cache are neither float32 nor float16"));
    }
    let ([batch, rows, heads, depth], [_, slots, key_heads, _]) = (&call.sizes(query)[..], &call.sizes(keys)[..])
    else {
        return Err(no_arguments());
    };
    let (start, last) = (number(builder, &call, 3)?, number(builder, &call, 4)?);
    let all = builder.exprs.int(*slots);
    let attention = Attention {
        query: [*batch, *rows, *heads, *depth],
        slots: *slots,
        shared: heads / key_heads.max(&1),
        width: *call.sizes(values).last().ok_or_else(no_arguments)?,
        used: builder.exprs.apply("min({0} + {1} + 1i, {2})", &[start, last, all], Type::Int),
        start,
        last,
        window: usize::try_from(call.int(6)?.unwrap_or(0)).map_err(|_| no_arguments())?,
        soft_cap: call.number(7)?.unwrap_or(0.0),
        scale: call.number(5)?.unwrap_or(1.0),
    };
    if !builder.profile.on_cpu() && attention.width <= WIDEST {
        let expr = attention.in_one_kernel(builder, [query, keys, values])?;
        return builder.set(output, expr);
    }
    let scores = attention.scores(builder, [query, keys])?;
    let sizes = [*batch, *heads, *rows, *slots];
    let most = attention.over_slots(builder, Fold::Max, scores);
    let most = builder.exprs.apply("max({0}, -3.0e38f)", &[most], Type::Float);
    let most = statistic(builder, &sizes, &[3], most)?;
    let [row, slot] = [2, 3].map(|dim| builder.exprs.coordinate(dim));
    let is_seen = attention.is_seen(builder, row, slot);
    let power = builder.exprs.apply("exp_f32({0} - {1})", &[scores, most], Type::Float);
    // Scores of unused slots are not written.
    let zero = builder.exprs.number(0.0, Type::Float);
    let power = builder.exprs.choose(is_seen, power, zero);
    let powers = builder.store_rows(power, sizes.to_vec())?;
    let sum = attention.over_slots(builder, Fold::Sum, powers);
    let sum = statistic(builder, &sizes, &[3], sum)?;
    let product = attention.weighted(builder, powers, values)?;
    let expr = builder.exprs.apply("select(0.0f, {0} / {1}, {1} > 0.0f)", &[product, sum], Type::Float);
    let expr = attention.by_row(builder, expr)?;
    builder.set(output, expr)
}

/// The least slots of a part of an attention of few rows.
const LEAST_SLOTS: usize = 128;

/// The widest values that a kernel for the whole attention has.
const WIDEST: usize = 512;

impl Attention {
    /// The attention as one kernel, or in parts that a second kernel adds, so that few rows keep a GPU busy.
    fn in_one_kernel(&self, builder: &mut Builder<'_>, [query, keys, values]: [ValueId; 3]) -> Result<ExprId, Refusal> {
        let parts = self.parts(builder.profile.units);
        let whole = self.part(builder, [query, keys, values], parts)?;
        if parts == 1 {
            return self.by_row(builder, whole);
        }
        let [batch, rows, heads, _] = self.query;
        let stored = builder.store_rows(whole, vec![parts, batch, heads, rows, self.width + TEXEL])?;
        let own = builder.exprs.coordinates(4);
        let of_part = |builder: &mut Builder<'_>, column: ExprId| {
            let part = builder.exprs.coordinate(4);
            builder.exprs.at(stored, &[part, own[0], own[1], own[2], column])
        };
        let [most, total] = [self.width, self.width + 1].map(|column| {
            let column = builder.exprs.int(column);
            of_part(builder, column)
        });
        let sum = of_part(builder, own[3]);
        let greatest = builder.exprs.fold(Fold::Max, 4, &[parts], most);
        // The same for all columns.
        let first = builder.exprs.int(0);
        let greatest = builder.exprs.at(greatest, &[own[0], own[1], own[2], first]);
        let factor = builder.exprs.apply("exp_f32({0} - {1})", &[most, greatest], Type::Float);
        let [sum, total] = [sum, total].map(|number| {
            let scaled = builder.exprs.apply("({0} * {1})", &[number, factor], Type::Float);
            builder.exprs.fold(Fold::Sum, 4, &[parts], scaled)
        });
        let total = builder.exprs.at(total, &[own[0], own[1], own[2], first]);
        let expr = builder.exprs.apply("select(0.0f, {0} / {1}, {1} > 0.0f)", &[sum, total], Type::Float);
        self.by_row(builder, expr)
    }

    /// The parts that the slots are dealt to.
    fn parts(&self, units: usize) -> usize {
        let [batch, rows, heads, _] = self.query;
        (units / (batch * rows * heads)).clamp(1, self.slots.div_ceil(LEAST_SLOTS))
    }

    /// The attention `[part, batch, head, row, column]`, without the dimension of parts if there is one.
    fn part(
        &self,
        builder: &mut Builder<'_>,
        [query, keys, values]: [ValueId; 3],
        parts: usize,
    ) -> Result<ExprId, Refusal> {
        let [batch, rows, heads, depth] = self.query;
        let [query, key, value] = [sliced(builder, query, 3)?, sliced(builder, keys, 3)?, sliced(builder, values, 3)?];
        let before = usize::from(parts > 1);
        // Operands at the coordinates batch, head, row, column, depth, slot.
        let [column, inner, slot] = [3, 4, 5].map(|dim| builder.exprs.coordinate(dim));
        let query_at = [&[0, 2, 1].map(|dim| builder.exprs.coordinate(dim))[..], &[inner]].concat();
        let key_at = [self.cache_row(builder, slot), vec![inner]].concat();
        let value_at = [self.cache_row(builder, slot), vec![column]].concat();
        let own = builder.exprs.coordinates_of(before..before + 6);
        let operand = |builder: &mut Builder<'_>, source: ExprId, at: &[ExprId]| {
            let operand = builder.exprs.at(source, at);
            builder.exprs.at(operand, &own)
        };
        let sizes = [batch, heads, rows, self.width + before * TEXEL];
        let seen = self.seen_slots(builder);
        Ok(builder.attention(|builder, product| {
            let [row, slot] = [own[2], own[5]];
            let score = self.score(builder, product, row, slot);
            product::Attention {
                sizes: if before > 0 { [&[parts], &sizes[..]].concat() } else { sizes.to_vec() },
                extents: [depth, self.slots],
                parts,
                keys: Some(builder.exprs.at(seen, &own)),
                query: operand(builder, query, &query_at),
                key: operand(builder, key, &key_at),
                value: operand(builder, value, &value_at),
                product,
                score,
            }
        }))
    }

    /// The slots up to the last one that the row at coordinate 2 sees; all used slots once the ring buffer has turned.
    fn seen_slots(&self, builder: &mut Builder<'_>) -> ExprId {
        let (row, slots) = (builder.exprs.coordinate(2), builder.exprs.int(self.slots));
        let template = "select({0} + min({1}, {2}) + 1i, {3}, {0} + {2} >= {3})";
        builder.exprs.apply(template, &[self.start, row, self.last, slots], Type::Int)
    }

    /// The result `[batch, head, row, column]`, stored, at the coordinates `[batch, row, head, column]`.
    fn by_row(&self, builder: &mut Builder<'_>, result: ExprId) -> Result<ExprId, Refusal> {
        let [batch, rows, heads, _] = self.query;
        let result = builder.store_rows(result, vec![batch, heads, rows, self.width])?;
        let at = [0, 2, 1, 3].map(|dim| builder.exprs.coordinate(dim));
        Ok(builder.exprs.at(result, &at))
    }

    /// The score of a product of query and key; minus infinity where the row does not see the slot.
    fn score(&self, builder: &mut Builder<'_>, product: ExprId, row: ExprId, slot: ExprId) -> ExprId {
        let scale = builder.exprs.number(self.scale, Type::Float);
        let mut score = builder.exprs.apply("({0} * {1})", &[product, scale], Type::Float);
        if self.soft_cap > 0.0 {
            let cap = builder.exprs.number(self.soft_cap, Type::Float);
            score = builder.exprs.apply("(tanh_f32({0} / {1}) * {1})", &[score, cap], Type::Float);
        }
        let hidden = builder.exprs.number(f64::NEG_INFINITY, Type::Float);
        let is_seen = self.is_seen(builder, row, slot);
        builder.exprs.apply("select({1}, {0}, {2})", &[score, hidden, is_seen], Type::Float)
    }

    /// Whether a row sees a slot: the position in the slot is the greatest of those that the ring
    /// buffer keeps there.
    fn is_seen(&self, builder: &mut Builder<'_>, row: ExprId, slot: ExprId) -> ExprId {
        let slots = builder.exprs.int(self.slots);
        let end = builder.exprs.apply("({0} + {1} + 1i)", &[self.start, self.last], Type::Int);
        let template = "({0} + ({1} - 1i - {0}) / {2} * {2})";
        let position = builder.exprs.apply(template, &[slot, end, slots], Type::Int);
        let seen = builder.exprs.apply("({0} + min({1}, {2}))", &[self.start, row, self.last], Type::Int);
        let window = if self.window == 0 { usize::try_from(i32::MAX).unwrap_or(0) } else { self.window };
        let window = builder.exprs.int(window);
        let template = "({0} < {1} && {2} <= {3} && {3} - {2} < {4})";
        builder.exprs.apply(template, &[slot, self.used, position, seen, window], Type::Bool)
    }

    /// A fold over the used slots, at the coordinates of `[batch, head, row, 1]`.
    fn over_slots(&self, builder: &mut Builder<'_>, fold: Fold, element: ExprId) -> ExprId {
        let mut at = builder.exprs.coordinates(4);
        at[3] = builder.exprs.coordinate(4);
        let body = builder.exprs.at(element, &at);
        builder.exprs.fold_to(fold, 4, vec![self.used], body)
    }

    /// The coordinates of a row of the cache: batch, slot, head.
    fn cache_row(&self, builder: &mut Builder<'_>, slot: ExprId) -> Vec<ExprId> {
        let [batch, head] = [0, 1].map(|dim| builder.exprs.coordinate(dim));
        let shared = builder.exprs.int(self.shared);
        let head = builder.exprs.index(IndexOp::Div, head, shared);
        vec![batch, slot, head]
    }

    fn scores(&self, builder: &mut Builder<'_>, [query, keys]: [ValueId; 2]) -> Result<ExprId, Refusal> {
        let [batch, rows, heads, depth] = self.query;
        let (left, right) = (sliced(builder, query, 3)?, sliced(builder, keys, 3)?);
        let [slot, inner] = [3, 4].map(|dim| builder.exprs.coordinate(dim));
        let left_at = [0, 2, 1].map(|dim| builder.exprs.coordinate(dim));
        let left_at = [&left_at[..], &[inner]].concat();
        let right_at = [self.cache_row(builder, slot), vec![inner]].concat();
        let sizes = vec![batch, heads, rows, self.slots];
        let product = Product {
            sizes: sizes.clone(),
            rows: vec![2],
            batch: vec![0, 1],
            column: 3,
            group: self.slots,
            positions: Vec::new(),
            inner: depth,
            limits: Limits { columns: Some(self.used), inner: None },
            left: builder.exprs.at(left, &left_at),
            is_inside: None,
            right: builder.exprs.at(right, &right_at),
            right_texel: RightTexel::Inner,
        };
        let product = builder.product(product);
        let row = builder.exprs.coordinate(2);
        let score = self.score(builder, product, row, slot);
        builder.store_rows(score, sizes)
    }

    fn weighted(&self, builder: &mut Builder<'_>, powers: ExprId, values: ValueId) -> Result<ExprId, Refusal> {
        let [batch, rows, heads, _] = self.query;
        let right = sliced(builder, values, 3)?;
        let [column, inner] = [3, 4].map(|dim| builder.exprs.coordinate(dim));
        let mut left_at = builder.exprs.coordinates(4);
        left_at[3] = inner;
        let right_at = [self.cache_row(builder, inner), vec![column]].concat();
        let product = Product {
            sizes: vec![batch, heads, rows, self.width],
            rows: vec![2],
            batch: vec![0, 1],
            column: 3,
            group: self.width,
            positions: Vec::new(),
            inner: self.slots,
            limits: Limits { columns: None, inner: Some(self.used) },
            left: builder.exprs.at(powers, &left_at),
            is_inside: None,
            right: builder.exprs.at(right, &right_at),
            right_texel: RightTexel::Columns,
        };
        Ok(builder.product(product))
    }
}

//! Scaled dot-product attention, a kernel of its own.

use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::ValueId;

use crate::builder::Builder;
use crate::expr::{ExprId, IndexOp};
use crate::product::Attention;
use crate::types::Type;

use super::Done;
use super::product::{is_single, sliced};

/// The shapes of an attention: `[batch..., rows, width]` for queries.
struct Shapes {
    /// The batch dimensions of the queries.
    batch: Vec<usize>,
    /// The rows of the queries, and those of the keys.
    rows: [usize; 2],
    /// The width of queries and keys, and that of the values.
    widths: [usize; 2],
    /// The query heads that share a head of the keys.
    shared: usize,
}

/// `softmax(Q K^T * scale + mask) V`.
pub fn attention(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let [query, key, value] = [call.value(0)?, call.value(1)?, call.value(2)?];
    if ![query, key, value].into_iter().all(|id| is_single(&call, id)) {
        return Err(Refusal::new(RefusalKind::Type, "attention is computed in float32 and float16"));
    }
    let shapes = shapes(&call, [query, key, value])?;
    let output = call.output()?;
    let rank = shapes.batch.len() + 2;
    let [query, key] = [sliced(builder, query, rank - 1)?, sliced(builder, key, rank - 1)?];
    let value = sliced(builder, value, rank - 1)?;
    let mask = match call.optional_value(3)? {
        None => None,
        Some(mask) => {
            let from = call.sizes(mask);
            let source = builder.repeated(mask)?;
            let sizes = [&shapes.batch[..], &shapes.rows].concat();
            Some(builder.broadcast(source, &from, &sizes))
        }
    };
    let scale = call.number(6)?.unwrap_or_else(|| 1.0 / (shapes.widths[0] as f64).sqrt());
    let is_causal = call.flag(5)?;
    let expr = builder.attention(|builder, product| {
        let score = score(builder, &shapes, product, (scale, is_causal, mask));
        shapes.attention(builder, [query, key, value], [product, score], is_causal)
    });
    builder.set(output, expr)
}

/// The score of a product, at coordinates `[batch..., row, column, depth, key]`.
fn score(
    builder: &mut Builder<'_>,
    shapes: &Shapes,
    product: ExprId,
    (scale, is_causal, mask): (f64, bool, Option<ExprId>),
) -> ExprId {
    let batch = shapes.batch.len();
    let [row, key] = [batch, batch + 3].map(|dim| builder.exprs.coordinate(dim));
    let scale = builder.exprs.number(scale, Type::Float);
    let mut expr = builder.exprs.apply("({0} * {1})", &[product, scale], Type::Float);
    // A hidden key, even if all are.
    let hidden = builder.exprs.number(-3.4e38, Type::Float);
    if is_causal {
        expr = builder.exprs.apply("select({0}, {1}, {3} > {2})", &[expr, hidden, row, key], Type::Float);
    }
    if let Some(mask) = mask {
        let mut at = builder.exprs.coordinates(batch);
        at.extend([row, key]);
        let mask = builder.exprs.at(mask, &at);
        let template = match builder.exprs.ty(mask) {
            Type::Bool => "select({1}, {0}, {2})",
            _ => "max({0} + {2}, {1})",
        };
        expr = builder.exprs.apply(template, &[expr, hidden, mask], Type::Float);
    }
    expr
}

impl Shapes {
    /// The attention of operands `[batch..., row, element]`.
    fn attention(
        &self,
        builder: &mut Builder<'_>,
        [query, key, value]: [ExprId; 3],
        [product, score]: [ExprId; 2],
        is_causal: bool,
    ) -> Attention {
        let batch = self.batch.len();
        let [row, column, depth, number] = [0, 1, 2, 3].map(|dim| builder.exprs.coordinate(batch + dim));
        let mut query_at = builder.exprs.coordinates(batch);
        query_at.extend([row, depth]);
        let shared = key_batch(builder, self);
        let key_at = [&shared[..], &[number, depth]].concat();
        let value_at = [&shared[..], &[number, column]].concat();
        Attention {
            sizes: [&self.batch[..], &[self.rows[0], self.widths[1]]].concat(),
            extents: [self.widths[0], self.rows[1]],
            keys: is_causal.then(|| self.seen_keys(builder)),
            parts: 1,
            query: builder.exprs.at(query, &query_at),
            key: builder.exprs.at(key, &key_at),
            value: builder.exprs.at(value, &value_at),
            product,
            score,
        }
    }
}

impl Shapes {
    /// The keys that a row of a causal attention sees.
    fn seen_keys(&self, builder: &mut Builder<'_>) -> ExprId {
        let (row, keys) = (builder.exprs.coordinate(self.batch.len()), builder.exprs.int(self.rows[1]));
        builder.exprs.apply("min({0} + 1i, {1})", &[row, keys], Type::Int)
    }
}

fn shapes(call: &Call<'_>, [query, key, value]: [ValueId; 3]) -> Result<Shapes, Refusal> {
    let [query, key, value] = [query, key, value].map(|id| call.sizes(id));
    let refuse = |reason: &str| Refusal::new(RefusalKind::Shape, reason);
    let ([.., rows, width], [.., keys, _], [.., last]) = (&query[..], &key[..], &value[..]) else {
        return Err(refuse("an operand of the attention is a vector"));
    };
    let batch = query[..query.len() - 2].to_vec();
    let heads = |sizes: &[usize]| sizes[..sizes.len() - 2].last().copied().unwrap_or(1);
    let shared = heads(&query) / heads(&key).max(1);
    let rest = |sizes: &[usize]| sizes[..sizes.len().saturating_sub(3)].to_vec();
    let are_alike = [&key, &value].into_iter().all(|sizes| sizes.len() == query.len() && rest(sizes) == rest(&query));
    if !are_alike || heads(&key) != heads(&value) || shared * heads(&key) != heads(&query) {
        return Err(refuse("the batches of queries, keys and values differ"));
    }
    Ok(Shapes { batch, rows: [*rows, *keys], widths: [*width, *last], shared })
}

/// The coordinates of the batch in keys and values.
fn key_batch(builder: &mut Builder<'_>, shapes: &Shapes) -> Vec<ExprId> {
    let mut batch = builder.exprs.coordinates(shapes.batch.len());
    if let (Some(head), true) = (batch.last_mut(), shapes.shared > 1) {
        let shared = builder.exprs.int(shapes.shared);
        *head = builder.exprs.index(IndexOp::Div, *head, shared);
    }
    batch
}

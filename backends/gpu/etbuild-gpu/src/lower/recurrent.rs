//! Recurrent layers: a product for the inputs of all steps, then kernels for each step.

use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::ValueId;

use crate::builder::Builder;
use crate::expr::ExprId;
use crate::product::{Limits, Product, RightTexel};
use crate::types::Type;

use super::join::{concatenated, joined};
use super::product::{is_single, sliced};
use super::{Done, no_arguments};

/// A longer sequence has too many kernels.
const MOST_STEPS: usize = 512;

/// The parts that a kernel joins.
const JOINED: usize = 6;

/// A direction of a layer.
struct Cell<'a> {
    steps: usize,
    batch: usize,
    /// The width of the inputs, and that of the state.
    widths: [usize; 2],
    /// Weights of the inputs and of the state, and their biases if any.
    params: &'a [ValueId],
    is_reversed: bool,
}

/// `torch.nn.LSTM`: layers by directions; the gates are input, forget, candidate and output.
pub fn lstm(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, states, params) = (call.value(0)?, call.values(1)?, call.values(2)?);
    let [hidden, cells] = states[..] else { return Err(no_arguments()) };
    let (sizes, width) = (call.sizes(input), *call.sizes(hidden).last().ok_or_else(no_arguments)?);
    if sizes.len() != 3 || !is_single(&call, input) {
        return Err(Refusal::new(RefusalKind::Shape, "the sequence has no batch, or is not float32 or float16"));
    }
    let (has_biases, layers) = (call.flag(3)?, usize::try_from(call.int(4)?.unwrap_or(1)).map_err(|_| no_arguments())?);
    let (directions, batch_first) = (1 + usize::from(call.flag(7)?), call.flag(8)?);
    let [steps, batch] = if batch_first { [sizes[1], sizes[0]] } else { [sizes[0], sizes[1]] };
    if steps > MOST_STEPS {
        return Err(Refusal::new(RefusalKind::Shape, "the sequence is too long for a kernel per step"));
    }
    let per_cell = if has_biases { 4 } else { 2 };
    let [states, cells] = [builder.repeated(hidden)?, builder.repeated(cells)?];
    let mut source = builder.repeated(input)?;
    if batch_first {
        let at = [1, 0, 2].map(|dim| builder.exprs.coordinate(dim));
        source = builder.exprs.at(source, &at);
    }
    let mut input_width = sizes[2];
    let mut last = [Vec::new(), Vec::new()];
    for layer in 0..layers {
        let mut outputs = Vec::new();
        for direction in 0..directions {
            let position = layer * directions + direction;
            let params = params.get(position * per_cell..(position + 1) * per_cell).ok_or_else(no_arguments)?;
            let cell = Cell { steps, batch, widths: [input_width, width], params, is_reversed: direction == 1 };
            let first = [states, cells].map(|of| {
                let at = [builder.exprs.int(position), builder.exprs.coordinate(0), builder.exprs.coordinate(1)];
                builder.exprs.at(of, &at)
            });
            let (hidden, state) = cell.run(builder, source, first)?;
            last[0].push(*hidden.last().ok_or_else(no_arguments)?);
            last[1].push(state);
            outputs.push(cell.in_order(builder, hidden)?);
        }
        source = sequence(builder, &outputs, [steps, batch, width])?;
        input_width = directions * width;
    }
    if batch_first {
        let at = [1, 0, 2].map(|dim| builder.exprs.coordinate(dim));
        source = builder.exprs.at(source, &at);
    }
    builder.set(call.output()?, source)?;
    for (output, parts) in call.node.outputs.iter().skip(1).zip(last) {
        let at = [1, 2].map(|dim| builder.exprs.coordinate(dim));
        let parts: Vec<_> = parts.into_iter().map(|part| (builder.exprs.at(part, &at), 1)).collect();
        let all = joined(&mut builder.exprs, 0, &parts).ok_or_else(no_arguments)?;
        builder.set(*output, all)?;
    }
    Ok(())
}

impl Cell<'_> {
    /// The hidden state after each step, in the order of computation, and the last cell state; each at `[batch, unit]`.
    fn run(
        &self,
        builder: &mut Builder<'_>,
        source: ExprId,
        [first, cells]: [ExprId; 2],
    ) -> Result<(Vec<ExprId>, ExprId), Refusal> {
        let inputs = self.inputs(builder, source)?;
        let mut hidden = self.store(builder, first)?;
        let mut cells = self.store(builder, cells)?;
        let mut all = Vec::new();
        for step in 0..self.steps {
            let step = if self.is_reversed { self.steps - 1 - step } else { step };
            let gates = self.gates(builder, inputs, hidden, step)?;
            let width = self.widths[1];
            let gate = |builder: &mut Builder<'_>, number: usize| {
                let unit = builder.exprs.coordinate(1);
                let unit = builder.exprs.linear(&[unit], &[1], number * width);
                let at = [builder.exprs.coordinate(0), unit];
                builder.exprs.at(gates, &at)
            };
            let parts = [gate(builder, 0), gate(builder, 1), gate(builder, 2), cells];
            let template = "(sigmoid_f32({1}) * {3} + sigmoid_f32({0}) * tanh_f32({2}))";
            let next = builder.exprs.apply(template, &parts, Type::Float);
            cells = self.store(builder, next)?;
            let parts = [gate(builder, 3), cells];
            let next = builder.exprs.apply("(sigmoid_f32({0}) * tanh_f32({1}))", &parts, Type::Float);
            hidden = self.store(builder, next)?;
            all.push(hidden);
        }
        Ok((all, cells))
    }

    /// The parts of the gates that the inputs make, of all steps: `[step, batch, gate]`.
    fn inputs(&self, builder: &mut Builder<'_>, source: ExprId) -> Result<ExprId, Refusal> {
        let left = if builder.sliced_dim(source) == Some(2) {
            source
        } else {
            builder.store_rows(source, vec![self.steps, self.batch, self.widths[0]])?
        };
        let mut product = self.product(builder, left, self.params[0], vec![0, 1], self.widths[0])?;
        for bias in self.params.iter().skip(2) {
            let bias = builder.repeated(*bias)?;
            let gate = builder.exprs.coordinate(2);
            let bias = builder.exprs.at(bias, &[gate]);
            product = builder.exprs.apply("({0} + {1})", &[product, bias], Type::Float);
        }
        builder.store_rows(product, vec![self.steps, self.batch, 4 * self.widths[1]])
    }

    /// The gates of a step before their functions: `[batch, gate]`.
    fn gates(&self, builder: &mut Builder<'_>, inputs: ExprId, hidden: ExprId, step: usize) -> Result<ExprId, Refusal> {
        let product = self.product(builder, hidden, self.params[1], vec![0], self.widths[1])?;
        let at = [builder.exprs.int(step), builder.exprs.coordinate(0), builder.exprs.coordinate(1)];
        let own = builder.exprs.at(inputs, &at);
        let sum = builder.exprs.apply("({0} + {1})", &[product, own], Type::Float);
        builder.store_rows(sum, vec![self.batch, 4 * self.widths[1]])
    }

    /// Rows times weights `[gate, inner]`.
    fn product(
        &self,
        builder: &mut Builder<'_>,
        left: ExprId,
        weights: ValueId,
        rows: Vec<usize>,
        inner: usize,
    ) -> Result<ExprId, Refusal> {
        let rank = rows.len() + 1;
        let right = sliced(builder, weights, 1)?;
        let [column, further] = [rank - 1, rank].map(|dim| builder.exprs.coordinate(dim));
        let mut at = builder.exprs.coordinates(rank - 1);
        at.push(further);
        let sizes = match rank {
            2 => vec![self.batch, 4 * self.widths[1]],
            _ => vec![self.steps, self.batch, 4 * self.widths[1]],
        };
        let product = Product {
            group: sizes[rank - 1],
            sizes,
            rows,
            batch: Vec::new(),
            column: rank - 1,
            positions: Vec::new(),
            inner,
            limits: Limits::default(),
            left: builder.exprs.at(left, &at),
            is_inside: None,
            right: builder.exprs.at(right, &[column, further]),
            right_texel: RightTexel::Inner,
        };
        Ok(builder.product(product))
    }

    fn store(&self, builder: &mut Builder<'_>, expr: ExprId) -> Result<ExprId, Refusal> {
        builder.store_rows(expr, vec![self.batch, self.widths[1]])
    }

    /// The hidden states in the order of the sequence.
    fn in_order(&self, builder: &mut Builder<'_>, mut hidden: Vec<ExprId>) -> Result<ExprId, Refusal> {
        if self.is_reversed {
            hidden.reverse();
        }
        // States at `[step, batch, unit]`, of ever longer parts of the sequence.
        let at = [1, 2].map(|dim| builder.exprs.coordinate(dim));
        let mut parts: Vec<(ExprId, usize)> =
            hidden.into_iter().map(|state| (builder.exprs.at(state, &at), 1)).collect();
        while parts.len() > 1 {
            let mut longer = Vec::new();
            for group in parts.chunks(JOINED) {
                let steps = group.iter().map(|(_, steps)| steps).sum();
                let whole = concatenated(&mut builder.exprs, 3, 0, group).ok_or_else(no_arguments)?;
                longer.push((builder.store_rows(whole, vec![steps, self.batch, self.widths[1]])?, steps));
            }
            parts = longer;
        }
        parts.first().map(|(part, _)| *part).ok_or_else(no_arguments)
    }
}

/// The directions of a layer side by side: `[step, batch, direction and unit]`.
fn sequence(
    builder: &mut Builder<'_>,
    directions: &[ExprId],
    [steps, batch, width]: [usize; 3],
) -> Result<ExprId, Refusal> {
    if let [only] = directions {
        return Ok(*only);
    }
    let parts: Vec<_> = directions.iter().map(|part| (*part, width)).collect();
    let whole = concatenated(&mut builder.exprs, 3, 2, &parts).ok_or_else(no_arguments)?;
    builder.store_rows(whole, vec![steps, batch, parts.len() * width])
}

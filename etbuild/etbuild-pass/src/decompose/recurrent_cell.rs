//! A time step of a recurrent layer.

use etbuild_ir::{Argument, OperatorName, ValueId};

use crate::Reason;
use crate::edit::{Dim, Editor};

/// The kinds of recurrent cells.
#[derive(Clone, Copy)]
pub enum Cell {
    /// Long short-term memory.
    Lstm,
    /// Gated recurrent units.
    Gru,
    /// A function of the sum.
    Plain(&'static str),
}

/// The weights of a direction.
pub struct Weights {
    input: Linear,
    hidden: Linear,
    /// The projection of the hidden state.
    projection: Option<Linear>,
}

/// A matrix `[from, to]` and a bias `[to]`.
struct Linear {
    matrix: ValueId,
    bias: Option<ValueId>,
}

impl Linear {
    fn new(editor: &mut Editor, weight: ValueId, bias: Option<ValueId>) -> Result<Self, Reason> {
        Ok(Self { matrix: editor.transpose(weight)?, bias })
    }

    /// Maps rows `[rows, from]` to rows `[rows, to]`.
    fn of(&self, editor: &mut Editor, rows: ValueId) -> Result<ValueId, Reason> {
        let ([count, _], [_, width]) = (&editor.dims(rows)[..], &editor.dims(self.matrix)[..]) else {
            return Err(Reason::Arguments);
        };
        let output = Dim::spec(editor.spec(rows).scalar_type, &[*count, *width]);
        let operands = [rows, self.matrix].map(Argument::Value);
        let Some(bias) = self.bias else { return editor.call("mm.default", operands.to_vec(), output) };
        let ones = [Argument::Int(1), Argument::Int(1)];
        let arguments = std::iter::once(Argument::Value(bias)).chain(operands).chain(ones).collect();
        editor.call("addmm.default", arguments, output)
    }
}

impl Weights {
    /// From the weights of inputs and hidden state, the biases if present, and the projection if present.
    pub fn new(editor: &mut Editor, parameters: &[ValueId], has_biases: bool) -> Result<Self, Reason> {
        let (input, hidden, biases, rest) = match (parameters, has_biases) {
            ([input, hidden, input_bias, hidden_bias, rest @ ..], true) => {
                (*input, *hidden, [Some(*input_bias), Some(*hidden_bias)], rest)
            }
            ([input, hidden, rest @ ..], false) => (*input, *hidden, [None; 2], rest),
            _ => return Err(Reason::Arguments),
        };
        Ok(Self {
            input: Linear::new(editor, input, biases[0])?,
            hidden: Linear::new(editor, hidden, biases[1])?,
            projection: rest.first().map(|weight| Linear::new(editor, *weight, None)).transpose()?,
        })
    }

    /// The contributions of the inputs of all time steps to the gates: `[time, batch, features]` to `[time, batch,
    /// gates * hidden]`.
    pub fn of_inputs(&self, editor: &mut Editor, input: ValueId) -> Result<ValueId, Reason> {
        let [time, batch, features] = editor.dims(input)[..] else { return Err(Reason::Arguments) };
        let rows = editor.view_as(input, &[Dim::product(&[time, batch]), features])?;
        let made = self.input.of(editor, rows)?;
        let width = *editor.dims(made).last().ok_or(Reason::Arguments)?;
        editor.view_as(made, &[time, batch, width])
    }
}

impl Cell {
    /// The cell of an operator.
    pub fn of(operator: &OperatorName) -> Result<Self, Reason> {
        match operator.name() {
            "lstm" => Ok(Self::Lstm),
            "gru" => Ok(Self::Gru),
            "rnn_tanh" => Ok(Self::Plain("tanh.default")),
            "rnn_relu" => Ok(Self::Plain("relu.default")),
            _ => Err(Reason::NoDecomposition),
        }
    }

    /// The states after a time step, from the contribution of the input to the gates, and the states before.
    pub fn step(
        self,
        editor: &mut Editor,
        weights: &Weights,
        input: ValueId,
        states: &[ValueId],
    ) -> Result<Vec<ValueId>, Reason> {
        let hidden = weights.hidden.of(editor, *states.first().ok_or(Reason::Arguments)?)?;
        match (self, states) {
            (Self::Lstm, [_, cell]) => {
                let sums = add(editor, input, hidden)?;
                lstm(editor, weights, sums, *cell)
            }
            (Self::Gru, [before]) => Ok(vec![gru(editor, input, hidden, *before)?]),
            (Self::Plain(function), [_]) => {
                let sum = add(editor, input, hidden)?;
                Ok(vec![editor.map(function, sum, vec![])?])
            }
            _ => Err(Reason::Arguments),
        }
    }
}

/// The gates: input, forget, candidate and output.
fn lstm(editor: &mut Editor, weights: &Weights, sums: ValueId, cell: ValueId) -> Result<Vec<ValueId>, Reason> {
    let [input, forget, candidate, output] = gates(editor, sums)?;
    let input = editor.map("sigmoid.default", input, vec![])?;
    let forget = editor.map("sigmoid.default", forget, vec![])?;
    let candidate = editor.map("tanh.default", candidate, vec![])?;
    let output = editor.map("sigmoid.default", output, vec![])?;
    let (kept, new) = (multiply(editor, forget, cell)?, multiply(editor, input, candidate)?);
    let cell = add(editor, kept, new)?;
    let bounded = editor.map("tanh.default", cell, vec![])?;
    let hidden = multiply(editor, output, bounded)?;
    let hidden = match &weights.projection {
        Some(projection) => projection.of(editor, hidden)?,
        None => hidden,
    };
    Ok(vec![hidden, cell])
}

/// The gates: reset and update, and the candidate.
fn gru(editor: &mut Editor, input: ValueId, hidden: ValueId, before: ValueId) -> Result<ValueId, Reason> {
    let [reset_input, update_input, candidate_input] = gates(editor, input)?;
    let [reset_hidden, update_hidden, candidate_hidden] = gates(editor, hidden)?;
    let reset = add(editor, reset_input, reset_hidden)?;
    let reset = editor.map("sigmoid.default", reset, vec![])?;
    let update = add(editor, update_input, update_hidden)?;
    let update = editor.map("sigmoid.default", update, vec![])?;
    let remembered = multiply(editor, reset, candidate_hidden)?;
    let candidate = add(editor, candidate_input, remembered)?;
    let candidate = editor.map("tanh.default", candidate, vec![])?;
    let distance = editor.map("sub.Tensor", before, vec![Argument::Value(candidate), Argument::Int(1)])?;
    let kept = multiply(editor, distance, update)?;
    add(editor, candidate, kept)
}

/// The columns of each gate.
fn gates<const GATES: usize>(editor: &mut Editor, sums: ValueId) -> Result<[ValueId; GATES], Reason> {
    let each = i64::from(*editor.spec(sums).sizes.last().ok_or(Reason::Arguments)?) / GATES as i64;
    let mut parts = [sums; GATES];
    for (index, part) in (0..).zip(&mut parts) {
        *part = editor.slice(sums, 1, index * each, (index + 1) * each)?;
    }
    Ok(parts)
}

fn add(editor: &mut Editor, left: ValueId, right: ValueId) -> Result<ValueId, Reason> {
    editor.map("add.Tensor", left, vec![Argument::Value(right), Argument::Int(1)])
}

fn multiply(editor: &mut Editor, left: ValueId, right: ValueId) -> Result<ValueId, Reason> {
    editor.map("mul.Tensor", left, vec![Argument::Value(right)])
}

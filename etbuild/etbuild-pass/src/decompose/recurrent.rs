//! Recurrent layers: `lstm`, `gru`, `rnn_tanh` and `rnn_relu`, unrolled over time.
//!
//! Arguments: `input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first`. The kernel
//! catalogue documents the computation of a layer.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::recurrent_cell::{Cell, Weights};
use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// The stacked layers, each unrolled.
pub fn unrolled(editor: &mut Editor, call: &Call) -> Rewritten {
    stack(editor, call, unroll)
}

/// The initial states, each `[layers * directions, batch, hidden]`.
fn states(call: &Call) -> Result<Vec<ValueId>, Reason> {
    match call.argument(1)? {
        Argument::Value(id) => Ok(vec![*id]),
        _ => call.values(1),
    }
}

fn directions(call: &Call) -> Result<usize, Reason> {
    Ok(1 + usize::from(call.flag(7)?))
}

/// Whether the layer projects the hidden state to another size.
pub fn is_projected(editor: &Editor, call: &Call) -> Result<bool, Reason> {
    let sizes = |id: &ValueId| editor.spec(*id).sizes.last().copied();
    let states = states(call)?;
    Ok(states.windows(2).any(|pair| sizes(&pair[0]) != sizes(&pair[1])))
}

/// Calls `layer` for each layer, with the result of the layer below.
pub fn stack(editor: &mut Editor, call: &Call, layer: fn(&mut Editor, &Call) -> Rewritten) -> Rewritten {
    if call.flag(6)? && call.number(5)? > 0.0 {
        return Err(Reason::Training);
    }
    let layers = usize::try_from(call.int(4)?).ok().filter(|layers| *layers > 0).ok_or(Reason::Arguments)?;
    if layers == 1 {
        return layer(editor, call);
    }
    let parameters = call.values(2)?;
    let each = parameters.len() / layers;
    if each == 0 || each * layers != parameters.len() {
        return Err(Reason::Arguments);
    }
    let (mut result, mut finals) = (call.value(0)?, vec![Vec::new(); call.outputs.len().saturating_sub(1)]);
    for (index, parameters) in parameters.chunks_exact(each).enumerate() {
        let one = layer_call(editor, call, (index, result), parameters)?;
        let made = layer(editor, &one)?;
        let (first, states) = made.split_first().ok_or(Reason::Arguments)?;
        result = *first;
        finals.iter_mut().zip(states).for_each(|(all, state)| all.push(*state));
    }
    let mut outputs = vec![result];
    for (states, spec) in finals.into_iter().zip(call.outputs.iter().skip(1)) {
        outputs.push(editor.cat(states, 0, spec.clone())?);
    }
    Ok(outputs)
}

/// The call of a single layer on `input`.
fn layer_call(
    editor: &mut Editor,
    call: &Call,
    (index, input): (usize, ValueId),
    parameters: &[ValueId],
) -> Result<Call, Reason> {
    let directions = directions(call)?;
    let start = (index * directions) as i64;
    let mut own = Vec::new();
    for state in states(call)? {
        own.push(editor.slice(state, 0, start, start + directions as i64)?);
    }
    let mut outputs = call.outputs.clone();
    for (output, state) in outputs.iter_mut().skip(1).zip(&own) {
        *output = editor.spec(*state).clone();
    }
    let hx = match (&own[..], call.argument(1)?) {
        ([state], Argument::Value(_)) => Argument::Value(*state),
        _ => Argument::values(own),
    };
    let mut arguments =
        vec![Argument::Value(input), hx, Argument::values(parameters.to_vec()), call.argument(3)?.clone()];
    arguments.push(Argument::Int(1));
    arguments.extend(call.arguments.iter().skip(5).cloned());
    Ok(Call { operator: call.operator.clone(), arguments, outputs })
}

/// A single layer.
fn unroll(editor: &mut Editor, call: &Call) -> Rewritten {
    let (cell, batch_first) = (Cell::of(&call.operator)?, call.flag(8)?);
    let input = if batch_first { editor.permute(call.value(0)?, &[1, 0, 2])? } else { call.value(0)? };
    let (count, parameters) = (directions(call)?, call.values(2)?);
    if parameters.is_empty() || !parameters.len().is_multiple_of(count) {
        return Err(Reason::Arguments);
    }
    let (mut results, mut finals) = (Vec::new(), vec![Vec::new(); call.outputs.len().saturating_sub(1)]);
    for (direction, parameters) in parameters.chunks_exact(parameters.len() / count).enumerate() {
        let weights = Weights::new(editor, parameters, call.flag(3)?)?;
        let mut state = Vec::new();
        for all in states(call)? {
            state.push(select(editor, all, direction)?);
        }
        let (result, state) = run(editor, (cell, &weights), (input, direction == 1), state)?;
        results.push(result);
        for (all, one) in finals.iter_mut().zip(state) {
            all.push(stacked_row(editor, one)?);
        }
    }
    let mut outputs = vec![side_by_side(editor, results, call, batch_first)?];
    for (states, spec) in finals.into_iter().zip(call.outputs.iter().skip(1)) {
        outputs.push(join(editor, states, 0, spec.clone())?);
    }
    Ok(outputs)
}

/// A single direction: the hidden states of all time steps, `[time, batch, hidden]`, and the final states.
fn run(
    editor: &mut Editor,
    (cell, weights): (Cell, &Weights),
    (input, backward): (ValueId, bool),
    mut state: Vec<ValueId>,
) -> Result<(ValueId, Vec<ValueId>), Reason> {
    let time = editor.dims(input).first().copied().ok_or(Reason::Arguments)?.fixed()?;
    let steps = usize::try_from(time).unwrap_or(0);
    let inputs = weights.of_inputs(editor, input)?;
    let mut hidden = vec![None; steps];
    for step in 0..steps {
        let step = if backward { steps - 1 - step } else { step };
        let input = select(editor, inputs, step)?;
        state = cell.step(editor, weights, input, &state)?;
        let row = stacked_row(editor, *state.first().ok_or(Reason::Arguments)?)?;
        hidden[step] = Some(row);
    }
    let rows: Vec<ValueId> = hidden.into_iter().flatten().collect();
    let mut output = editor.spec(*rows.first().ok_or(Reason::Arguments)?).clone();
    let size = i32::try_from(steps).map_err(|_| Reason::Arguments)?;
    output.set_size(0, size).ok_or(Reason::Arguments)?;
    Ok((join(editor, rows, 0, output)?, state))
}

/// The results of all directions, in the dimension order of the call.
fn side_by_side(editor: &mut Editor, results: Vec<ValueId>, call: &Call, batch_first: bool) -> Result<ValueId, Reason> {
    let output = call.output()?;
    let [first, second, units] = Dim::of(&output)[..] else { return Err(Reason::Arguments) };
    if !batch_first {
        return join(editor, results, 2, output);
    }
    let by_time = Dim::spec(output.scalar_type, &[second, first, units]);
    let joined = join(editor, results, 2, by_time)?;
    editor.permute(joined, &[1, 0, 2])
}

/// Entry `index` of the outermost dimension.
fn select(editor: &mut Editor, of: ValueId, index: usize) -> Result<ValueId, Reason> {
    let dims = editor.dims(of);
    let output = Dim::spec(editor.spec(of).scalar_type, dims.get(1..).ok_or(Reason::Arguments)?);
    let arguments = vec![Argument::Value(of), Argument::Int(0), Argument::Int(index as i64)];
    editor.call("select.int", arguments, output)
}

/// The tensor with a new outermost dimension of size 1.
fn stacked_row(editor: &mut Editor, of: ValueId) -> Result<ValueId, Reason> {
    let dims: Vec<Dim> = std::iter::once(1.into()).chain(editor.dims(of)).collect();
    editor.view_as(of, &dims)
}

fn join(editor: &mut Editor, parts: Vec<ValueId>, dim: usize, output: TensorSpec) -> Result<ValueId, Reason> {
    match parts[..] {
        [only] => Ok(only),
        _ => editor.cat(parts, dim, output),
    }
}

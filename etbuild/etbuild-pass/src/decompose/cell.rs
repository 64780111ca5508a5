//! A time step of a recurrent layer: `lstm_cell` (Hochreiter and Schmidhuber 1997), `gru_cell` (Cho et al. 2014) and
//! `rnn_cell`.

use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `lstm_cell(input, [hidden, cell], w_ih, w_hh, b_ih, b_hh)`: gates are input, forget, cell, output.
pub fn lstm(editor: &mut Editor, call: &Call) -> Rewritten {
    let [hidden, cell] = call.values(1)?[..] else { return Err(Reason::Arguments) };
    let [input, hidden] = gates(editor, call, hidden)?;
    let gates = editor.pair("add", input, hidden)?;
    let [input, forget, candidate, output] = pieces(editor, gates)?;
    let (input, forget) = (editor.apply("sigmoid", input)?, editor.apply("sigmoid", forget)?);
    let (candidate, output) = (editor.apply("tanh", candidate)?, editor.apply("sigmoid", output)?);
    let kept = editor.pair("mul", forget, cell)?;
    let added = editor.pair("mul", input, candidate)?;
    let cell = editor.pair("add", kept, added)?;
    let shown = editor.apply("tanh", cell)?;
    Ok(vec![editor.pair("mul", output, shown)?, cell])
}

/// `gru_cell(input, hidden, w_ih, w_hh, b_ih, b_hh)`: gates are reset, update, new.
pub fn gru(editor: &mut Editor, call: &Call) -> Rewritten {
    let state = call.value(1)?;
    let [input, hidden] = gates(editor, call, state)?;
    let [input_reset, input_update, input_new] = pieces(editor, input)?;
    let [hidden_reset, hidden_update, hidden_new] = pieces(editor, hidden)?;
    let reset = editor.pair("add", input_reset, hidden_reset)?;
    let reset = editor.apply("sigmoid", reset)?;
    let update = editor.pair("add", input_update, hidden_update)?;
    let update = editor.apply("sigmoid", update)?;
    let recalled = editor.pair("mul", reset, hidden_new)?;
    let new = editor.pair("add", input_new, recalled)?;
    let new = editor.apply("tanh", new)?;
    let difference = editor.pair("sub", state, new)?;
    let kept = editor.pair("mul", update, difference)?;
    Ok(vec![editor.pair("add", new, kept)?])
}

/// `rnn_tanh_cell` and `rnn_relu_cell`, with the arguments of `gru_cell`.
pub fn plain(editor: &mut Editor, call: &Call) -> Rewritten {
    let [input, hidden] = gates(editor, call, call.value(1)?)?;
    let sum = editor.pair("add", input, hidden)?;
    let name = if call.operator.name() == "rnn_relu_cell" { "relu" } else { "tanh" };
    Ok(vec![editor.apply(name, sum)?])
}

/// The contributions of the input and of the hidden state to the gates.
fn gates(editor: &mut Editor, call: &Call, hidden: ValueId) -> Result<[ValueId; 2], Reason> {
    let input = call.value(0)?;
    Ok([linear(editor, call, input, 2, 4)?, linear(editor, call, hidden, 3, 5)?])
}

fn linear(editor: &mut Editor, call: &Call, of: ValueId, weight: usize, bias: usize) -> Result<ValueId, Reason> {
    let weight = call.value(weight)?;
    let mut dims = editor.dims(of);
    *dims.last_mut().ok_or(Reason::Arguments)? = *editor.dims(weight).first().ok_or(Reason::Arguments)?;
    let output = Dim::spec(editor.spec(of).scalar_type, &dims);
    let arguments = vec![Argument::Value(of), Argument::Value(weight), call.argument(bias)?.clone()];
    editor.call("linear.default", arguments, output)
}

/// Equal parts of the last dimension.
fn pieces<const N: usize>(editor: &mut Editor, of: ValueId) -> Result<[ValueId; N], Reason> {
    let sizes = editor.sizes(of);
    let (dim, size) = sizes.len().checked_sub(1).zip(sizes.last()).ok_or(Reason::Arguments)?;
    let each = i64::from(*size) / N as i64;
    let part = |index: i64| editor.slice(of, dim, index * each, (index + 1) * each);
    let parts: Vec<ValueId> = (0..N as i64).map(part).collect::<Result<_, _>>()?;
    parts.try_into().map_err(|_| Reason::Arguments)
}

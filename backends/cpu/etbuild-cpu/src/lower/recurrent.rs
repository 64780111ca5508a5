//! Recurrent layers: for each direction a GEMM of the inputs of all time steps, then the steps.

use et_cpu::{
    Activation, Conv2d, Epilogue, Place, QParams, RecurrentCell, RecurrentLayer, RowScales, Rows, SequenceStrides,
    Window, Write,
};
use etbuild_backend::{ArgumentError, Call, RefusalKind, is_known};
use etbuild_cpu_weights::Packing;
use etbuild_ir::{Argument, ValueId};

use crate::Problem;
use crate::builder::{Builder, place, rows};
use crate::capability::{self, Checked, ensure};
use crate::lower::Lowered;
use crate::lower::conv2d::{self, Input};
use crate::tensor::{FLOAT, Tensor};

/// Checks a layer of a batch of sequences: the weights are constant.
pub fn check(call: &Call<'_>) -> Checked {
    ensure(call.int(4)? == Some(1), RefusalKind::Argument, "it has several layers")?;
    ensure(call.output_sizes()?.len() == 3, RefusalKind::Shape, "the sequence has no batch")?;
    let parameters = call.values(2)?;
    let are_known = parameters.iter().all(|id| is_known(call.links, *id));
    ensure(are_known, RefusalKind::Constant, "its weights are computed")?;
    let count = directions(call)? * parameters_of_direction(call)?;
    ensure(parameters.len() == count, RefusalKind::Argument, "its hidden state is projected")?;
    capability::floats(call)
}

fn directions(call: &Call<'_>) -> Result<usize, ArgumentError> {
    Ok(1 + usize::from(call.flag(7)?))
}

/// The weights of inputs and hidden states, and the bias of each.
fn parameters_of_direction(call: &Call<'_>) -> Result<usize, ArgumentError> {
    Ok(if call.flag(3)? { 4 } else { 2 })
}

/// `(input, states, parameters, has_biases, layers, dropout, train, bidirectional, batch_first)` of an LSTM, whose states are hidden
/// states and cell states.
pub fn lstm(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    layer(builder, &call, RecurrentCell::Lstm)
}

/// The same of a GRU, which has hidden states alone.
pub fn gru(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    layer(builder, &call, RecurrentCell::Gru)
}

/// The same of a simple layer with `tanh`.
pub fn rnn_tanh(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    layer(builder, &call, RecurrentCell::Tanh)
}

/// The same of a simple layer with ReLU.
pub fn rnn_relu(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    layer(builder, &call, RecurrentCell::Relu)
}

/// A layer of one or two directions.
struct Layer {
    cell: RecurrentCell,
    /// The sequences, `[steps, batch, width]` or the other way round.
    input: Tensor,
    /// The hidden states of all directions behind every step.
    output: Tensor,
    batch_first: bool,
    /// The states ahead of the first step and behind the last one, `[directions, batch, units]`.
    hidden: [Tensor; 2],
    /// The same of the cell states of an LSTM.
    cells: Option<[Tensor; 2]>,
}

fn layer(builder: &mut Builder<'_>, call: &Call<'_>, cell: RecurrentCell) -> Lowered {
    let input = builder.dense(call.value(0)?)?;
    let mut states = Vec::new();
    for id in before(call)? {
        let state = builder.dense(id)?;
        let behind = builder.row_major(FLOAT, &state.sizes);
        states.push([state, behind]);
    }
    for (id, [_, behind]) in call.node.outputs.iter().skip(1).zip(&states) {
        builder.set(*id, behind.clone());
    }
    let mut states = states.into_iter();
    let layer = Layer {
        cell,
        input,
        output: builder.row_major(FLOAT, &call.output_sizes()?),
        batch_first: call.flag(8)?,
        hidden: states.next().ok_or(Problem::Arguments)?,
        cells: states.next(),
    };
    for (direction, parameters) in call.values(2)?.chunks(parameters_of_direction(call)?).enumerate() {
        layer.direction(builder, direction, parameters)?;
    }
    Ok(Some(layer.output))
}

/// The states ahead of the first step.
fn before(call: &Call<'_>) -> Result<Vec<ValueId>, Problem> {
    match call.node.arguments.get(1) {
        Some(Argument::Value(id)) => Ok(vec![*id]),
        _ => Ok(call.values(1)?),
    }
}

impl Layer {
    /// Emits the instructions of a direction.
    fn direction(&self, builder: &mut Builder<'_>, direction: usize, parameters: &[ValueId]) -> Result<(), Problem> {
        let [of_inputs, of_hidden, biases @ ..] = parameters else { return Err(Problem::Arguments) };
        let [input_bias, hidden_bias] = [biases.first(), biases.get(1)].map(Option::<&ValueId>::copied);
        let inputs = self.inputs(builder, *of_inputs, input_bias)?;
        let [_, batch, units] = self.hidden[0].sizes[..] else { return Err(Problem::Arguments) };
        let own = |tensor: &Tensor| place(&tensor.selected(0, direction));
        let [hidden_before, hidden] = [0, 1].map(|index| own(&self.hidden[index]));
        let cells = |index: usize| self.cells.as_ref().map_or(Place::ABSENT, |cells| own(&cells[index]));
        let gemm =
            hidden_gemm(builder, Rows { place: hidden, stride: units as u32 }, batch, (*of_hidden, hidden_bias))?;
        let (time, sequence) = if self.batch_first { (1, 0) } else { (0, 1) };
        let strides = |tensor: &Tensor| SequenceStrides {
            step: tensor.strides[time] as u32,
            sequence: tensor.strides[sequence] as u32,
        };
        builder.emit(RecurrentLayer {
            cell: self.cell,
            gemm,
            inputs: place(&inputs),
            input_strides: strides(&inputs),
            hidden_before,
            cells_before: cells(0),
            hidden: Write(hidden),
            cells: Write(cells(1)),
            output: Write(place(&self.output.sliced(2, direction * units, units, 1))),
            output_strides: strides(&self.output),
            steps: self.input.sizes[time] as u32,
            batch: batch as u32,
            units: units as u32,
            is_reversed: direction == 1,
        });
        Ok(())
    }

    /// The sums of the gates over the inputs of all time steps, by one GEMM.
    fn inputs(&self, builder: &mut Builder<'_>, weight: ValueId, bias: Option<ValueId>) -> Result<Tensor, Problem> {
        let weights = recurrent_weights(builder, weight, bias)?;
        let columns = columns(builder, weight)?;
        let (input, count, inner) = rows(&self.input).ok_or(Problem::Arguments)?;
        let [first, second, _] = self.input.sizes[..] else { return Err(Problem::Arguments) };
        let sums = builder.row_major(FLOAT, &[first, second, columns]);
        let input = Input { rows: input, qparams: QParams::FLOAT, row_scales: RowScales::ABSENT };
        conv2d::gemm(builder, input, weights, &sums, Window::matrix(count, inner, columns))?;
        Ok(sums)
    }
}

/// Weights `[gates * units, inner]` with a bias.
fn recurrent_weights(
    builder: &Builder<'_>,
    weight: ValueId,
    bias: Option<ValueId>,
) -> Result<conv2d::Unpacked, Problem> {
    let bias = bias.map_or(Ok(Vec::new()), |bias| conv2d::floats(builder, bias))?;
    conv2d::weights_of_rows(builder, weight, bias, None)
}

fn columns(builder: &Builder<'_>, weight: ValueId) -> Result<usize, Problem> {
    let columns = builder.links.graph.spec(weight).sizes.first().copied();
    columns.and_then(|columns| usize::try_from(columns).ok()).ok_or(Problem::Arguments)
}

/// The GEMM of the hidden states of a step.
fn hidden_gemm(
    builder: &mut Builder<'_>,
    input: Rows,
    batch: usize,
    (weight, bias): (ValueId, Option<ValueId>),
) -> Result<Conv2d, Problem> {
    let columns = columns(builder, weight)?;
    let window = Window::matrix(batch, input.stride as usize, columns);
    let (weights, form, adapter) = recurrent_weights(builder, weight, bias)?;
    let weights = builder.program.packed(Packing { window, weights, form, adapter })?;
    let sums = builder.row_major(FLOAT, &[batch, columns]);
    let activation = Activation::clamp(f32::NEG_INFINITY, f32::INFINITY);
    Ok(Conv2d {
        input,
        input_qparams: QParams::FLOAT,
        row_scales: RowScales::ABSENT,
        channel_scales: Place::ABSENT,
        weights,
        output: Write(Rows { place: place(&sums), stride: columns as u32 }),
        output_qparams: QParams::FLOAT,
        window,
        epilogue: Epilogue { residual: Rows::ABSENT, activation, ..Epilogue::default() },
    })
}

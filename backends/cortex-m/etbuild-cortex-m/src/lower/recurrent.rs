//! LSTM and GRU.

use et_cortex_m::{Channel16, GATE_FRACTION, Multiplier, Recurrent, Window};
use etbuild_backend::int8::sampled;
use etbuild_backend::{ByteWeights, Refusal, RefusalKind, floats};
use etbuild_ir::{Argument, Links, Node, ValueId};

use super::int16::reduced;
use super::{Lowering, Order, cut};
use crate::program::Storage;
use etbuild_backend::int8::pattern::{self, Check, Epilogue, int8_operand, no, quantized};

/// The scale of results.
const RESULT: f64 = 1.0 / 128.0;

/// The scale of the hidden state within a layer.
const STATE: f64 = 1.0 / 32_768.0;

/// Whether a node is a recurrent layer.
pub fn is_recurrent(node: &Node) -> bool {
    matches!(node.operator.as_str(), "aten.lstm.input" | "aten.gru.input")
}

/// Accepts layers with int8 weights that begin with states of 0 and whose last states nothing reads.
pub fn check(links: &Links<'_>, node: &Node) -> Check {
    let (operand, epilogue) = (int8_operand(links, node)?, quantized(links, node)?);
    let result = epilogue.quantized.map(|(_, qparams)| (qparams.scale, qparams.zero));
    if epilogue.last != pattern::output(node)? || result != Some((RESULT, 0)) {
        return Err(no(RefusalKind::Quantization, "the result has no steps of a 128th"));
    }
    if node.outputs.iter().skip(1).any(|id| links.read_count(*id) > 0) {
        return Err(no(RefusalKind::Argument, "the last states are read"));
    }
    let is_zero =
        |id: &ValueId| links.graph.constant(*id).is_some_and(|data| data.bytes().iter().all(|byte| *byte == 0));
    if !values(node, 1).iter().all(is_zero) {
        return Err(no(RefusalKind::Argument, "the first states are not 0"));
    }
    if links.graph.spec(operand.id).rank() != 3 {
        return Err(no(RefusalKind::Shape, "the operand has no dimensions of time and batch"));
    }
    for parameters in directions(links, node)? {
        parameters.channels(operand.qparams.scale, operand.qparams.zero)?;
    }
    Ok(())
}

/// The tensors of an argument: one, or a list.
fn values(node: &Node, position: usize) -> Vec<ValueId> {
    match node.arguments.get(position) {
        Some(Argument::Value(id)) => vec![*id],
        Some(Argument::Values(ids)) => ids.iter().copied().flatten().collect(),
        _ => Vec::new(),
    }
}

fn flag(node: &Node, position: usize) -> bool {
    node.arguments.get(position) == Some(&Argument::Bool(true))
}

/// Weights and biases of the input and of the hidden state.
struct Parameters {
    weights: [ByteWeights; 2],
    biases: [Vec<f32>; 2],
}

/// The parameters of each direction.
fn directions(links: &Links<'_>, node: &Node) -> Result<Vec<Parameters>, Refusal> {
    let (all, each) = (values(node, 2), if flag(node, 3) { 4 } else { 2 });
    let of = |ids: &[ValueId]| {
        let weights = [ByteWeights::of(links, ids[0])?, ByteWeights::of(links, ids[1])?];
        let bias = |at: usize| ids.get(at).map_or(Some(Vec::new()), |id| floats(links, *id));
        Some(Parameters { weights, biases: [bias(2)?, bias(3)?] })
    };
    let found: Option<Vec<_>> = all.chunks_exact(each).map(of).collect();
    found
        .filter(|found| !found.is_empty())
        .ok_or_else(|| no(RefusalKind::Constant, "the weights are not int8 constants without zero points"))
}

impl Parameters {
    /// The constants of the rows of both matrices, for an input of this scale and zero point.
    fn channels(&self, scale: f64, zero: i32) -> Result<[Vec<Channel16>; 2], Refusal> {
        let [input, hidden] = &self.weights;
        let input = channels(input, &self.biases[0], (scale, i64::from(zero), 1 << 7));
        let hidden = channels(hidden, &self.biases[1], (STATE, 0, 1 << 15));
        let both = input.zip(hidden).map(|(input, hidden)| [input, hidden]);
        both.ok_or_else(|| no(RefusalKind::Quantization, "the sums of a row exceed 31 bits"))
    }
}

/// The constants of rows for elements of this scale, zero point and largest magnitude; `None` for too large sums.
fn channels(weights: &ByteWeights, bias: &[f32], (scale, zero, most): (f64, i64, i64)) -> Option<Vec<Channel16>> {
    let inner = (weights.bytes.bytes().len() / weights.scales.len().max(1)).max(1);
    let rows = weights.bytes.bytes().chunks(inner).zip(&weights.scales).enumerate();
    rows.map(|(row, (integers, of_row))| {
        let scale = scale * f64::from(*of_row);
        let (factor, shift) = reduced(Multiplier::of(scale * f64::from(1 << GATE_FRACTION)));
        let integers = integers.iter().map(|integer| i64::from(integer.cast_signed()));
        let (sum, absolute) = integers.fold((0, 0), |(sum, absolute), weight| (sum + weight, absolute + weight.abs()));
        let bias = f64::from(bias.get(row).copied().unwrap_or(0.0)) / scale;
        let bias = bias.round_ties_even() as i64 - zero * sum;
        let greatest = bias.abs() + most * absolute;
        let fits = greatest < 1 << 31 && (1..63).contains(&shift) && (greatest * i64::from(factor)) >> shift < 1 << 31;
        fits.then(|| Channel16::new(bias, factor, shift))
    })
    .collect()
}

impl Lowering<'_> {
    /// A recurrent layer: an instruction for each direction.
    pub(super) fn recurrent(&mut self, node: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        let operand = int8_operand(self.links, node)?;
        let (to, _) = epilogue.quantized.ok_or_else(cut)?;
        let size = |id: ValueId, dim: usize| self.links.graph.spec(id).sizes.get(dim).map_or(0, |size| *size as u32);
        let (batch_first, directions) = (flag(node, 8), directions(self.links, node)?);
        let [features, width] = [size(operand.id, 2), size(to, 2)];
        let (time, batches) = (size(operand.id, usize::from(batch_first)), size(operand.id, usize::from(!batch_first)));
        let gates = if node.operator.name() == "lstm" { 4 } else { 3 };
        let hidden = width / directions.len() as u32;
        let input = self.ordered(operand.id, Order::RowMajor)?.place();
        let output = self.create(to, Order::RowMajor).place();
        let number = |half: usize| (half as f64 - 512.0) * 64.0 / f64::from(1 << GATE_FRACTION);
        let sigmoid = self.entries(&sampled(|half| 32_768.0 / (1.0 + (-number(half)).exp())));
        let tanh = self.entries(&sampled(|half| 32_768.0 * number(half).tanh()));
        let block = self.row.int16_block();
        let whole = |count: u32| (count as usize).next_multiple_of(block);
        for (direction, parameters) in directions.iter().enumerate() {
            let [of_input, of_hidden] = parameters.channels(operand.qparams.scale, operand.qparams.zero)?;
            let mut scratch =
                |elements: usize| self.program.buffer(Storage::Scratch(elements * size_of::<i16>())).place();
            let columns = scratch(whole(features));
            let state = scratch(whole(hidden) + hidden as usize);
            let sums = scratch((2 * gates * hidden) as usize);
            let mut weights = |of: &ByteWeights, inner: u32| {
                let integers: Vec<i8> = of.bytes.bytes().iter().map(|byte| byte.cast_signed()).collect();
                let (out_channels, in_channels) = (gates * hidden, inner);
                let window =
                    Window { out_channels, in_channels, kernel_height: 1, kernel_width: 1, ..Window::default() };
                self.weights16(&integers, &window)
            };
            let [input_weights, hidden_weights] =
                [weights(&parameters.weights[0], features), weights(&parameters.weights[1], hidden)];
            let step = Recurrent {
                input,
                output,
                columns,
                state,
                sums,
                gates,
                time,
                batches,
                features,
                hidden,
                width,
                first: direction as u32 * hidden,
                batch_first,
                backward: direction == 1,
                input_weights,
                input_channels: self.program.records(&of_input),
                hidden_weights,
                hidden_channels: self.program.records(&of_hidden),
                sigmoid,
                tanh,
            };
            self.program.emit(step, self.name(to));
        }
        Ok(())
    }
}

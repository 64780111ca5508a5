//! LSTM and GRU: int8 inputs and results, int16 states.

use et_core::{Error, Result};
use et_runtime::{Events, Listener};

use super::int16::{ENTRIES, look_up};
use crate::memory::Operands;
use crate::requantize::shifted_product;
use crate::row::CHANNELS;
use crate::row::int16::products;
use crate::{CELL_FRACTION, Channel16, GATE_FRACTION, Recurrent};

pub fn run(step: &Recurrent, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let (time, batches) = (step.time as usize, step.batches as usize);
    let (features, hidden, width) = (step.features as usize, step.hidden as usize, step.width as usize);
    let product = |left: usize, right: usize| left.checked_mul(right).ok_or(Error::InvalidProgram);
    let (count, rows) = (product(time, batches)?, product(step.gates as usize, hidden)?);
    let first = step.first as usize;
    if !matches!(step.gates, 3 | 4) || first.checked_add(hidden).is_none_or(|end| end > width) {
        return Err(Error::InvalidProgram);
    }
    let input = operands.read::<i8>(step.input, product(count, features)?)?;
    let output = operands.write::<i8>(step.output, product(count, width)?)?;
    let block = operands.row().int16_block();
    let whole = |count: usize| count.checked_next_multiple_of(block).ok_or(Error::InvalidProgram);
    let columns = operands.write::<i16>(step.columns, whole(features)?)?;
    let state = operands.write::<i16>(step.state, whole(hidden)?.checked_add(hidden).ok_or(Error::InvalidProgram)?)?;
    let sums = operands.write::<i16>(step.sums, product(2, rows)?)?;
    let of_input = Matrix::of(&operands, [step.input_weights, step.input_channels], [rows, whole(features)?], block)?;
    let of_hidden = Matrix::of(&operands, [step.hidden_weights, step.hidden_channels], [rows, whole(hidden)?], block)?;
    let tables =
        Tables { sigmoid: operands.constant(step.sigmoid, ENTRIES)?, tanh: operands.constant(step.tanh, ENTRIES)? };
    let (before, cell) = state.split_at_mut(whole(hidden)?);
    let (from_input, from_hidden) = sums.split_at_mut(rows);
    columns.fill(0);
    for batch in 0..batches {
        before.fill(0);
        cell.fill(0);
        for at in 0..time {
            let at = if step.backward { time - 1 - at } else { at };
            let row = if step.batch_first { batch * time + at } else { at * batches + batch };
            let elements = input.get(row * features..).unwrap_or_default();
            columns.iter_mut().zip(elements).take(features).for_each(|(column, element)| *column = i16::from(*element));
            of_input.multiply(columns, from_input);
            of_hidden.multiply(before, from_hidden);
            let gates = Gates { from_input, from_hidden, hidden };
            match step.gates {
                4 => tables.lstm(&gates, before, cell),
                _ => tables.gru(&gates, before),
            }
            let results = output.get_mut(row * width + first..).unwrap_or_default();
            for (result, state) in results.iter_mut().zip(before.iter()).take(hidden) {
                *result = ((i32::from(*state) + 128) >> 8).min(127) as i8;
            }
            listener.pulse();
        }
    }
    Ok(())
}

/// A number as int16, saturated.
#[inline(always)]
fn saturated(number: i32) -> i16 {
    number.clamp(-32_768, 32_767) as i16
}

/// A quotient by a power of two, rounded to nearest, halves up.
#[inline(always)]
const fn rounded(number: i32, bits: u32) -> i32 {
    (number + (1 << (bits - 1))) >> bits
}

/// Weights of all gates.
struct Matrix<'m> {
    weights: &'m [i8],
    channels: &'m [Channel16],
    /// The products of a block.
    block: usize,
}

impl<'m> Matrix<'m> {
    fn of<'a: 'm>(
        operands: &Operands<'m, 'a>,
        [weights, channels]: [u32; 2],
        [rows, columns]: [usize; 2],
        block: usize,
    ) -> Result<Self> {
        let bytes = rows.checked_next_multiple_of(CHANNELS).and_then(|rows| rows.checked_mul(columns));
        let weights = operands.constant(weights, bytes.ok_or(Error::InvalidProgram)?)?;
        Ok(Self { weights, channels: operands.constant(channels, rows)?, block })
    }

    /// The products with a column, in the fraction of gates.
    #[inline(never)]
    fn multiply(&self, column: &[i16], results: &mut [i16]) {
        let panels = self.weights.chunks_exact((CHANNELS * column.len()).max(1));
        for ((weights, channels), results) in
            panels.zip(self.channels.chunks(CHANNELS)).zip(results.chunks_mut(CHANNELS))
        {
            let bias = |at: usize| channels.get(at).map_or(0, |channel| channel.bias_low.cast_signed());
            let mut sums = [[bias(0), bias(1)]];
            products(self.block, column, weights, &mut sums);
            for ((result, sum), channel) in results.iter_mut().zip(sums.as_flattened()).zip(channels) {
                *result = saturated(shifted_product((*sum).into(), channel.multiplier, channel.shift));
            }
        }
    }
}

/// The operands of the gates.
struct Gates<'m> {
    from_input: &'m [i16],
    from_hidden: &'m [i16],
    hidden: usize,
}

impl Gates<'_> {
    /// The parts of a gate's operand of a unit.
    fn parts(&self, gate: usize, unit: usize) -> [i32; 2] {
        let place = gate * self.hidden + unit;
        [self.from_input, self.from_hidden].map(|part| part.get(place).copied().map_or(0, i32::from))
    }

    fn sum(&self, gate: usize, unit: usize) -> i16 {
        let [input, hidden] = self.parts(gate, unit);
        saturated(input + hidden)
    }
}

/// The functions of gates.
struct Tables<'m> {
    sigmoid: &'m [i16],
    tanh: &'m [i16],
}

impl Tables<'_> {
    fn sigmoid(&self, number: i16) -> i32 {
        look_up(self.sigmoid, number).into()
    }

    fn tanh(&self, number: i16) -> i32 {
        look_up(self.tanh, number).into()
    }

    /// The gates are input, forget, candidate and output.
    fn lstm(&self, gates: &Gates<'_>, before: &mut [i16], cell: &mut [i16]) {
        for (unit, (state, cell)) in before.iter_mut().zip(cell).enumerate() {
            let [input, forget, output] = [0, 1, 3].map(|gate| self.sigmoid(gates.sum(gate, unit)));
            let candidate = self.tanh(gates.sum(2, unit));
            let kept = rounded(forget * i32::from(*cell), 15);
            *cell = saturated(kept + rounded(input * candidate, 30 - CELL_FRACTION));
            let operand = saturated(i32::from(*cell) << (GATE_FRACTION - CELL_FRACTION));
            *state = saturated(rounded(output * self.tanh(operand), 15));
        }
    }

    /// The gates are reset, update and candidate.
    fn gru(&self, gates: &Gates<'_>, before: &mut [i16]) {
        for (unit, state) in before.iter_mut().take(gates.hidden).enumerate() {
            let [reset, update] = [0, 1].map(|gate| self.sigmoid(gates.sum(gate, unit)));
            let [input, hidden] = gates.parts(2, unit);
            let candidate = self.tanh(saturated(input + rounded(reset * hidden, 15)));
            *state = saturated(candidate + rounded((i32::from(*state) - candidate) * update, 15));
        }
    }
}

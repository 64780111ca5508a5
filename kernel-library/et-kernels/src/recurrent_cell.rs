//! The gates of recurrent layers: LSTM (Hochreiter and Schmidhuber 1997), GRU (Cho et al. 2014) and the simple layer (Elman 1990).
//!
//! GEMMs compute the sums of the gates over the inputs and over the hidden state; a step applies the functions of the gates, a vector of
//! units at a time.

use et_core::Result;
use et_simd::{Float, Level, Simd, Work, math};

use crate::check::{ensure, product};

/// The kind of a layer, by the order of gates of PyTorch's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Input, forget, candidate and output gates, and a cell state.
    Lstm,
    /// Reset, update and candidate gates.
    Gru,
    /// A sum with `tanh`.
    Tanh,
    /// A sum with ReLU.
    Relu,
}

impl Cell {
    /// The number of gates.
    pub const fn gates(self) -> usize {
        match self {
            Self::Lstm => 4,
            Self::Gru => 3,
            Self::Tanh | Self::Relu => 1,
        }
    }
}

/// The sums of the gates of a sequence for a time step, `[gates, units]`.
#[derive(Clone, Copy, Debug)]
pub struct Gates<'a> {
    /// The sums over the inputs.
    pub inputs: &'a [f32],
    /// The sums over the hidden state.
    pub hidden: &'a [f32],
}

/// Steps the hidden state of a sequence, and the cell state of an LSTM, which other layers lack.
#[inline]
pub fn step(level: Level, cell: Cell, gates: Gates<'_>, hidden: &mut [f32], cells: &mut [f32]) -> Result<()> {
    let units = hidden.len();
    let length = product(&[cell.gates(), units])?;
    ensure(gates.inputs.len() == length && gates.hidden.len() == length)?;
    ensure(cells.len() == if cell == Cell::Lstm { units } else { 0 })?;
    level.run(Step { cell, gates, hidden, cells });
    Ok(())
}

struct Step<'a> {
    cell: Cell,
    gates: Gates<'a>,
    hidden: &'a mut [f32],
    cells: &'a mut [f32],
}

impl Work for Step<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        match self.cell {
            Cell::Lstm => self.lstm(isa),
            Cell::Gru => self.gru(isa),
            Cell::Tanh => self.simple(isa, |sum| math::tanh(isa, sum)),
            // NaN stays NaN, as in PyTorch.
            Cell::Relu => self.simple(isa, |sum| math::clamp(isa, sum, 0.0, f32::INFINITY)),
        }
    }
}

impl Step<'_> {
    /// The sums of a gate for the units from `at` on, over the inputs and over the hidden state. Lanes past the last unit are those of the
    /// next gate or zero, and are never stored.
    #[inline(always)]
    fn sums<S: Simd>(&self, isa: S, gate: usize, at: usize) -> [S::F32; 2] {
        let at = gate * self.hidden.len() + at;
        [isa.load(self.gates.inputs, at), isa.load(self.gates.hidden, at)]
    }

    #[inline(always)]
    fn total<S: Simd>(&self, isa: S, gate: usize, at: usize) -> S::F32 {
        let [inputs, hidden] = self.sums(isa, gate, at);
        inputs + hidden
    }

    #[inline(always)]
    fn lstm<S: Simd>(self, isa: S) {
        for at in (0..self.hidden.len()).step_by(S::LANES) {
            let [input, forget, output] = [0, 1, 3].map(|gate| math::sigmoid(isa, self.total(isa, gate, at)));
            let candidate = math::tanh(isa, self.total(isa, 2, at));
            let cell = forget.mul_add(isa.load(self.cells, at), input * candidate);
            isa.store(self.cells, at, cell);
            isa.store(self.hidden, at, output * math::tanh(isa, cell));
        }
    }

    #[inline(always)]
    fn gru<S: Simd>(self, isa: S) {
        for at in (0..self.hidden.len()).step_by(S::LANES) {
            let [reset, update] = [0, 1].map(|gate| math::sigmoid(isa, self.total(isa, gate, at)));
            let [input, hidden] = self.sums(isa, 2, at);
            let candidate = math::tanh(isa, reset.mul_add(hidden, input));
            let before = isa.load(self.hidden, at);
            isa.store(self.hidden, at, (before - candidate).mul_add(update, candidate));
        }
    }

    #[inline(always)]
    fn simple<S: Simd>(self, isa: S, function: impl Fn(S::F32) -> S::F32) {
        for at in (0..self.hidden.len()).step_by(S::LANES) {
            isa.store(self.hidden, at, function(self.total(isa, 0, at)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::test::{check, numbers};

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    /// The hidden state of a unit, and the cell state behind it.
    fn expected(cell: Cell, sums: &[[f64; 2]], before: f64, state: f64) -> [f64; 2] {
        let total = |gate: usize| sums[gate][0] + sums[gate][1];
        match cell {
            Cell::Lstm => {
                let state = sigmoid(total(1)) * state + sigmoid(total(0)) * total(2).tanh();
                [sigmoid(total(3)) * state.tanh(), state]
            }
            Cell::Gru => {
                let candidate = (sums[2][0] + sigmoid(total(0)) * sums[2][1]).tanh();
                [candidate + (before - candidate) * sigmoid(total(1)), state]
            }
            Cell::Tanh => [total(0).tanh(), state],
            Cell::Relu => [total(0).max(0.0), state],
        }
    }

    #[test]
    fn a_step_is_the_formula_of_the_cell() {
        for (cell, units) in [(Cell::Lstm, 21), (Cell::Gru, 37), (Cell::Tanh, 5), (Cell::Relu, 16), (Cell::Lstm, 1)] {
            let large = |seed| numbers(cell.gates() * units, seed).into_iter().map(|x| x * 8.0).collect::<Vec<f32>>();
            let (inputs, sums, before, state) = (large(1), large(2), numbers(units, 3), numbers(units, 4));
            let both = |unit: usize| {
                let sums = (0..cell.gates()).map(|gate| [&inputs, &sums].map(|of| f64::from(of[gate * units + unit])));
                expected(cell, &sums.collect::<Vec<_>>(), f64::from(before[unit]), f64::from(state[unit]))
            };
            let gates = Gates { inputs: &inputs, hidden: &sums };
            let stated = if cell == Cell::Lstm { units } else { 0 };
            let wanted: Vec<f64> = (0..units).map(|unit| both(unit)[0]).collect();
            check("hidden", &wanted, 1e-6, |level, output| {
                output.copy_from_slice(&before);
                step(level, cell, gates, output, &mut state[..stated].to_vec())
            });
            let wanted: Vec<f64> = (0..stated).map(|unit| both(unit)[1]).collect();
            check("cells", &wanted, 1e-6, |level, output| {
                output.copy_from_slice(&state[..stated]);
                step(level, cell, gates, &mut before.clone(), output)
            });
        }
    }

    #[test]
    fn sums_of_another_number_of_units_are_refused() {
        let refused = |cell, sums: usize, cells: usize| {
            let sums = std::vec![0.0; sums];
            let gates = Gates { inputs: &sums, hidden: &sums };
            step(Level::Portable, cell, gates, &mut [0.0; 2], &mut std::vec![0.0; cells]).is_err()
        };
        assert!(!refused(Cell::Lstm, 8, 2) && refused(Cell::Lstm, 7, 2) && refused(Cell::Lstm, 8, 1));
        assert!(!refused(Cell::Gru, 6, 0) && refused(Cell::Gru, 6, 2));
    }
}

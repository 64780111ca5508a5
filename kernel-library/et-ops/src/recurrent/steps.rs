//! Recurrent layers: a cell steps through a sequence, forwards or in both directions.
//!
//! The state between steps lives in the outputs: the hidden state in the rows of the result, the cell state in the
//! final cell state. So a layer needs no temporary memory. A layer on top of a second layer needs the whole result of
//! that layer, which is therefore a tensor of the program: a call computes a single layer.
//!
//! Arguments: `input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first`, then the result
//! `[time, batch, directions * hidden]` (batch and time exchanged with `batch_first`) and each final state
//! `[directions, batch, hidden]`. Per direction, `params` has the input weights `[gates * hidden, features]` and the
//! hidden-state weights `[gates * hidden, hidden]`, then the bias of each.

use et_core::{Args, Error, Input, Output, Result, Tensor, Value};

use crate::Meta;
use crate::family::contract::{Run, dot};
use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::{transfer, unary};
use crate::math::Math;

/// The first out tensor.
const OUT: usize = 9;

/// The sizes of a layer.
#[derive(Clone, Copy)]
struct Sizes {
    time: usize,
    batches: usize,
    features: usize,
    hidden: usize,
    directions: usize,
}

/// State `index` at the start.
fn state<'p>(args: &Args<'p, '_>, index: usize) -> Result<Tensor<'p>> {
    match args.value(1)? {
        Value::Tensor(tensor) if index == 0 => Ok(tensor),
        _ => args.tensor_of(1, index),
    }
}

/// The dimensions of time and batch.
fn time_and_batch(args: &Args<'_, '_>) -> Result<[usize; 2]> {
    Ok(if args.bool(8)? { [1, 0] } else { [0, 1] })
}

/// Checks every argument of a cell with `gates` gates and `states` states.
fn sizes(args: &Args<'_, '_>, [gates, states]: [usize; 2]) -> Result<Sizes> {
    let (input, [time, batch], directions) = (args.tensor(0)?, time_and_batch(args)?, 1 + usize::from(args.bool(7)?));
    let hidden = state(args, 0)?.size(2);
    if args.int(4)? != 1 || (args.bool(6)? && args.double(5)? > 0.0) {
        return Err(Error::NotSupported);
    }
    let sizes =
        Sizes { time: input.size(time), batches: input.size(batch), features: input.size(2), hidden, directions };
    let fits = |tensor: Tensor<'_>, wanted: &[usize]| {
        let shape = tensor.shape();
        shape.rank() == wanted.len() && shape.sizes().iter().zip(wanted).all(|(size, wanted)| *size as usize == *wanted)
    };
    let mut valid = input.rank() == 3;
    for index in 0..states {
        valid &= fits(state(args, index)?, &[directions, sizes.batches, hidden]);
    }
    let (rows, each) = (gates * hidden, if args.bool(3)? { 4 } else { 2 });
    valid &= args.tensors_len(2)? == each * directions;
    for index in 0..each * directions {
        let wanted = [&[rows, sizes.features][..], &[rows, hidden], &[rows], &[rows]];
        valid &= fits(args.tensor_of(2, index)?, wanted[index % each]);
    }
    if valid { Ok(sizes) } else { Err(Error::InvalidArgument) }
}

/// The rule for a cell with `gates` gates and `states` states.
pub fn meta(args: &Args<'_, '_>, index: usize, counts: [usize; 2]) -> Result<Meta> {
    let sizes = sizes(args, counts)?;
    if index > 0 {
        return Ok(Meta { shape: state(args, index - 1)?.shape(), ..unary::like_first(args, 0)? });
    }
    let mut shape = args.tensor(0)?.shape();
    shape.sizes_mut()[2] = (sizes.hidden * sizes.directions) as i32;
    transfer::reshaped(args, shape)
}

/// Runs a layer. `cell` takes, for each gate, the sums over the input and over the hidden state, then the unit's hidden
/// state and, if present, its cell state; `cell` returns both states after the step.
pub fn run<T: Opmath, const GATES: usize, const STATES: usize>(
    args: &Args<'_, '_>,
    cell: impl Fn([[T::Math; 2]; GATES], [T::Math; 2]) -> [T::Math; 2],
) -> Result<()> {
    for index in 0..=STATES {
        args.tensor(OUT + index)?.settle(|| Ok(meta(args, index, [GATES, STATES])?.shape))?;
    }
    let sizes = sizes(args, [GATES, STATES])?;
    for direction in 0..sizes.directions {
        Direction::<T>::new(args, sizes, direction, STATES)?.run(&cell);
    }
    Ok(())
}

/// Rows of units at each of two further positions: time (or the gate's number times units) and batch.
#[derive(Clone, Copy)]
struct Rows<'a, T> {
    elements: Input<'a, T>,
    start: usize,
    steps: [usize; 3],
}

impl<'a, T: Opmath> Rows<'a, T> {
    /// The tensor from a place on, with the strides of these dimensions.
    fn new(tensor: &Tensor<'a>, place: Place, dims: [usize; 3]) -> Result<Self> {
        Ok(Self { elements: tensor.input()?, start: place.start, steps: dims.map(|dim| place.strides[dim]) })
    }

    fn row(&self, first: usize, second: usize) -> Run<'a, T> {
        let start = self.start + first * self.steps[0] + second * self.steps[1];
        Run { elements: self.elements, start, step: self.steps[2] }
    }
}

/// The position of an element.
const fn at<T>(run: &Run<'_, T>, index: usize) -> usize {
    run.start + index * run.step
}

/// A direction of a layer.
struct Direction<'a, T> {
    sizes: Sizes,
    backward: bool,
    /// Indexed by time and batch.
    input: Rows<'a, T>,
    result: Rows<'a, T>,
    result_out: Output<'a, T>,
    /// Indexed by batch in the second dimension: hidden and cell state, at the start and at the end.
    initial: [Option<Rows<'a, T>>; 2],
    last: [Option<(Rows<'a, T>, Output<'a, T>)>; 2],
    /// Indexed by row: the input weights and the hidden-state weights.
    weights: [Rows<'a, T>; 2],
    biases: Option<[Rows<'a, T>; 2]>,
}

impl<'a, T: Opmath> Direction<'a, T> {
    fn new(args: &Args<'a, '_>, sizes: Sizes, direction: usize, states: usize) -> Result<Self> {
        let [time, batch] = time_and_batch(args)?;
        let (input, result) = (args.tensor(0)?, args.tensor(OUT)?);
        let column = Place::of(&result).moved(2, (direction * sizes.hidden) as i64);
        let (mut initial, mut last) = ([None; 2], [None; 2]);
        for index in 0..states {
            let (before, after) = (state(args, index)?, args.tensor(OUT + 1 + index)?);
            let rows = |tensor: &Tensor<'a>| Rows::new(tensor, Place::of(tensor).moved(0, direction as i64), [0, 1, 2]);
            initial[index] = Some(rows(&before)?);
            last[index] = Some((rows(&after)?, after.output::<T>()?));
        }
        let each = if args.bool(3)? { 4 } else { 2 };
        let parameter = |index: usize, dims: [usize; 3]| {
            let tensor = args.tensor_of(2, direction * each + index)?;
            Rows::new(&tensor, Place::of(&tensor), dims)
        };
        let biases = if each == 4 { Some([parameter(2, [0, 1, 1])?, parameter(3, [0, 1, 1])?]) } else { None };
        Ok(Self {
            sizes,
            backward: direction == 1,
            input: Rows::new(&input, Place::of(&input), [time, batch, 2])?,
            result: Rows::new(&result, column, [time, batch, 2])?,
            result_out: result.output()?,
            initial,
            last,
            weights: [parameter(0, [0, 1, 1])?, parameter(1, [0, 1, 1])?],
            biases,
        })
    }

    fn run<const GATES: usize>(&self, cell: &impl Fn([[T::Math; 2]; GATES], [T::Math; 2]) -> [T::Math; 2]) {
        self.for_each_state(|index, batch| self.copy_initial(index, batch));
        for step in 0..self.sizes.time {
            for unit in 0..self.sizes.hidden {
                (0..self.sizes.batches).for_each(|batch| self.step([step, batch, unit], cell));
            }
        }
        if self.sizes.time > 0 {
            (0..self.sizes.batches).for_each(|batch| self.copy_final(batch));
        }
    }

    fn for_each_state(&self, visit: impl Fn(usize, usize)) {
        (0..2).for_each(|index| (0..self.sizes.batches).for_each(|batch| visit(index, batch)));
    }

    /// The position in the sequence of a step.
    fn time(&self, step: usize) -> usize {
        if self.backward { self.sizes.time - 1 - step } else { step }
    }

    /// The hidden state before a step.
    fn hidden(&self, step: usize, batch: usize) -> Run<'a, T> {
        match (step.checked_sub(1), self.initial[0]) {
            (None, Some(initial)) => initial.row(0, batch),
            (before, _) => self.result.row(self.time(before.unwrap_or(0)), batch),
        }
    }

    fn step<const GATES: usize>(
        &self,
        [step, batch, unit]: [usize; 3],
        cell: &impl Fn([[T::Math; 2]; GATES], [T::Math; 2]) -> [T::Math; 2],
    ) {
        let (input, hidden) = (self.input.row(self.time(step), batch), self.hidden(step, batch));
        let sums: [[T::Math; 2]; GATES] = core::array::from_fn(|gate| {
            let row = gate * self.sizes.hidden + unit;
            [self.sum(0, row, input, self.sizes.features), self.sum(1, row, hidden, self.sizes.hidden)]
        });
        let state = self.last[1].map(|(rows, elements)| (at(&rows.row(0, batch), unit), elements));
        let states =
            [hidden.elements.get(at(&hidden, unit)), state.map_or(T::ZERO, |(offset, elements)| elements.get(offset))];
        let [hidden, cell_state] = cell(sums, states.map(T::raise));
        self.result_out.set(at(&self.result.row(self.time(step), batch), unit), T::lower(hidden));
        if let Some((offset, elements)) = state {
            elements.set(offset, T::lower(cell_state));
        }
    }

    /// The dot product of a weight row and a vector, plus the bias.
    fn sum(&self, which: usize, row: usize, vector: Run<'_, T>, count: usize) -> T::Math {
        use et_core::Number;
        let sum = dot(T::Math::ZERO, vector, self.weights[which].row(row, 0), count);
        self.biases.map_or(sum, |biases| {
            let bias = biases[which].row(row, 0);
            sum.plus(bias.elements.get(bias.start).raise())
        })
    }

    fn copy_initial(&self, index: usize, batch: usize) {
        let (Some(initial), Some((rows, elements))) = (self.initial[index], self.last[index]) else { return };
        let (from, to) = (initial.row(0, batch), rows.row(0, batch));
        (0..self.sizes.hidden).for_each(|unit| elements.set(at(&to, unit), from.elements.get(at(&from, unit))));
    }

    /// The hidden state after the last step is that step's row of the result.
    fn copy_final(&self, batch: usize) {
        let Some((rows, elements)) = self.last[0] else { return };
        let (from, to) = (self.hidden(self.sizes.time, batch), rows.row(0, batch));
        (0..self.sizes.hidden).for_each(|unit| elements.set(at(&to, unit), from.elements.get(at(&from, unit))));
    }
}

/// The pre-activation of a gate: the sum of the input part and the hidden-state part.
pub fn total<M: Math>([input, hidden]: [M; 2]) -> M {
    input + hidden
}

/// The logistic function.
pub fn sigmoid<M: Math>(x: M) -> M {
    M::ONE / (M::ONE + (-x).exp())
}

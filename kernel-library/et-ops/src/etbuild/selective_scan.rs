//! `etbuild::selective_scan`: the recurrence of selective state spaces (Mamba) over the rows of a prefill chunk, or of a decode step.

use crate::etbuild::span;
use crate::etbuild::state::{LANES, State, View, place, softplus};
use crate::family::opmath::Opmath;
use crate::math::Math;
use crate::prelude::*;
use et_core::Output;

/// A selective scan (Gu and Dao 2023): for each row, `state = exp(step * rate) * state + step * input * key`, and
/// `output = state * query + skip * input`, with `step = softplus(steps + biases)`.
///
/// `input` is `[1, rows, heads, depth]`, `steps` `[1, rows, heads]`, `biases` and `skips` `[heads]`; `rates` are
/// `[heads, width]` (Mamba) or `[heads, 1]` (Mamba 2, Dao and Gu 2024). `keys` and `queries`, `[1, rows, groups, width]`, are the inputs B
/// and C of the state space; a group of neighbouring heads shares each. `state` is `[heads, depth, width]`, that of the text before `start`,
/// and zeros for a text that begins. The outputs are `[1, rows, heads, depth]`, with zeros in padding rows behind `last`, and the state
/// behind row `last`, or for a `last` of -1 the old state.
#[cfg(feature = "catalogue")]
pub const SELECTIVE_SCAN: Operator = Operator {
    schema: "etbuild::selective_scan.out(Tensor input, Tensor steps, Tensor rates, Tensor keys, Tensor queries, Tensor state, \
             Tensor start, Tensor last, Tensor? biases=None, Tensor? skips=None, *, Tensor(a!) out0, Tensor(b!) out1) \
             -> (Tensor(a!), Tensor(b!))",
    functional: "etbuild::selective_scan",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "a text that begins, with a rate for each element",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 2, 2, 1], &[1.0, -2.0, 0.5, 3.0])),
                Tensor(CaseTensor::float(&[1, 2, 2], &[0.5, -1.0, 25.0, 0.0])),
                Tensor(CaseTensor::float(&[2, 2], &[-1.0, -0.5, -0.25, -2.0])),
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[1.0, 0.5, -1.0, 2.0])),
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[2.0, 1.0, 0.5, -0.5])),
                Tensor(CaseTensor::float(&[2, 1, 2], &[9.0; 4])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::long(&[1], &[1.0])),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 2, 2, 1], BEGINNING), CaseTensor::float(&[2, 1, 2], BEGUN)],
        ),
        Case::near(
            "a text that goes on, with biases, skips and a row that is no token",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[1.0, -2.0, 0.5, 3.0])),
                Tensor(CaseTensor::float(&[1, 2, 1], &[0.5, 4.0])),
                Tensor(CaseTensor::float(&[1, 1], &[-0.5])),
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[1.0, 0.5, -1.0, 2.0])),
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[2.0, 1.0, 0.5, -0.5])),
                Tensor(CaseTensor::float(&[1, 2, 2], &[1.0, 2.0, 3.0, -4.0])),
                Tensor(CaseTensor::long(&[1], &[7.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::float(&[1], &[-0.25])),
                Tensor(CaseTensor::float(&[1], &[0.5])),
            ],
            &[CaseTensor::float(&[1, 2, 1, 2], GOING_ON), CaseTensor::float(&[1, 2, 2], GONE_ON)],
        ),
        Case::exact(
            "no token at all",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 2], &[1.0, -2.0])),
                Tensor(CaseTensor::float(&[1, 1, 1], &[0.5])),
                Tensor(CaseTensor::float(&[1, 1], &[-0.5])),
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[2.0])),
                Tensor(CaseTensor::float(&[1, 2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::long(&[1], &[7.0])),
                Tensor(CaseTensor::long(&[1], &[-1.0])),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 1, 1, 2], &[0.0; 2]), CaseTensor::float(&[1, 2, 1], &[1.0, 2.0])],
        ),
        Case::refused(
            "heads that no group has",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 2], &[1.0, -2.0])),
                Tensor(CaseTensor::float(&[1, 1, 1], &[0.5])),
                Tensor(CaseTensor::float(&[1, 1], &[-0.5])),
                Tensor(CaseTensor::float(&[1, 1, 2, 1], &[1.0; 2])),
                Tensor(CaseTensor::float(&[1, 1, 2, 1], &[2.0; 2])),
                Tensor(CaseTensor::float(&[1, 2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::long(&[1], &[7.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                CaseArgument::None,
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

const BEGINNING: &[f64] = &[2.43519246, -1.566308438, -18.750000908, -3.343425232];
const BEGUN: &[f64] = &[-12.5, 25.000001815, -2.606282802, 4.080567661];
const GOING_ON: &[f64] = &[5.211577849, -3.80633245, 0.0, 0.0];
const GONE_ON: &[f64] = &[1.487621745, 1.73633436, 0.333168135, -3.47266872];

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let [input, steps, rates] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    let [keys, queries, state] = [args.tensor(3)?, args.tensor(4)?, args.tensor(5)?];
    span::check(args, [6, 7])?;
    let (shape, rows_of_keys) = (input.shape(), keys.shape());
    let ([1, rows, heads, depth], [1, own_rows, groups, width]) = (shape.sizes(), rows_of_keys.sizes()) else {
        return Err(Error::InvalidArgument);
    };
    let of_heads = |position: usize| {
        let vector = args.optional_tensor(position)?;
        let fits = vector
            .is_none_or(|vector| vector.shape().sizes() == [*heads] && vector.scalar_type() == input.scalar_type());
        Ok::<bool, Error>(fits)
    };
    let rates_fit = matches!(rates.shape().sizes(), [all, each] if all == heads && (*each == 1 || each == width));
    let fits = own_rows == rows
        && queries.shape() == rows_of_keys
        && steps.shape().sizes() == [1, *rows, *heads]
        && state.shape().sizes() == [*heads, *depth, *width]
        && *groups > 0
        && heads % groups == 0
        && rates_fit
        && of_heads(8)?
        && of_heads(9)?;
    let types = [steps, rates, keys, queries, state];
    if !fits || types.iter().any(|tensor| tensor.scalar_type() != input.scalar_type()) {
        return Err(Error::InvalidArgument);
    }
    let shape = if index == 0 { shape } else { args.tensor(5)?.shape() };
    Ok(Meta { scalar_type: input.scalar_type(), shape })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    for index in 0..2 {
        args.tensor(10 + index)?.settle(|| Ok(infer(args, index)?.shape))?;
    }
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => scan::<T>(args))
}

/// What a row gives a head: the size of the step, and the factor of the input that is added to the output.
struct Step<M> {
    size: M,
    skip: M,
}

/// The tensors of a scan.
struct Scan<'a, T> {
    input: View<'a, T>,
    rates: View<'a, T>,
    keys: View<'a, T>,
    queries: View<'a, T>,
    out: Output<'a, T>,
    state: State<'a, T>,
    out_steps: [usize; 3],
    depth: usize,
}

fn scan<T: Opmath>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    let [input, steps, state, out, behind] =
        [args.tensor(0)?, args.tensor(1)?, args.tensor(5)?, args.tensor(10)?, args.tensor(11)?];
    let (rows, heads) = (input.size(1), input.size(2));
    let (start, count) = span::read_some(args, [6, 7], rows)?;
    let vector = |position: usize| args.optional_tensor(position)?.map(|tensor| View::<T>::of(&tensor)).transpose();
    let (biases, skips) = (vector(8)?, vector(9)?);
    // Rows of one element for each head.
    let raw = (steps.input::<T>()?, steps.strides());
    let heads_of_group = heads / args.tensor(3)?.size(2);
    let strides = out.strides();
    let scan = Scan {
        input: View::of(&input)?,
        rates: View::of(&args.tensor(2)?)?,
        keys: View::of(&args.tensor(3)?)?,
        queries: View::of(&args.tensor(4)?)?,
        out: out.output::<T>()?,
        state: State::begin(&state, &behind, start > 0)?,
        out_steps: [strides[1], strides[2], strides[3]],
        depth: input.size(3),
    };
    for row in 0..rows {
        for head in 0..heads {
            let of_head = |vector: &Option<View<'_, T>>| {
                vector.as_ref().map_or(T::Math::ZERO, |vector| vector.get([0, 0, head]).raise())
            };
            if row < count {
                let (elements, steps) = raw;
                let raw = elements.get(row * steps[1] + head * steps[2]).raise();
                let step = Step { size: softplus(raw + of_head(&biases)), skip: of_head(&skips) };
                scan.head([row, head, head / heads_of_group], &step);
            } else {
                (0..scan.depth).for_each(|element| scan.set([row, head, element], T::Math::ZERO));
            }
        }
    }
    Ok(())
}

impl<T: Opmath> Scan<'_, T>
where
    T::Math: Math,
{
    /// Sets an element of the output.
    fn set(&self, index: [usize; 3], value: T::Math) {
        self.out.set(place(index, self.out_steps), T::lower(value));
    }

    /// Steps the state of a head, and sets what the query reads.
    fn head(&self, [row, head, group]: [usize; 3], step: &Step<T::Math>) {
        let steps = [self.state.steps[2], self.keys.steps[2], self.queries.steps[2]];
        // Heads with one rate have one decay.
        let decay = (self.rates.steps[2] == 0).then(|| (step.size * self.rates.get([0, head, 0]).raise()).exp());
        for element in 0..self.depth {
            let value = self.input.get([row, head, element]).raise();
            let [keys, queries] = [&self.keys, &self.queries].map(|view| view.at([row, group, 0]));
            let place = [self.state.at([head, element, 0]), self.rates.at([0, head, 0]), keys, queries];
            let made = match steps {
                [1, 1, 1] => self.columns::<true>(place, value * step.size, decay, step.size),
                _ => self.columns::<false>(place, value * step.size, decay, step.size),
            };
            self.set([row, head, element], made + step.skip * value);
        }
    }

    /// Steps the columns of the state of an element of a head, and returns what the query reads. Columns of state, keys and
    /// queries are neighbours in memory where `IS_DENSE`, which the compiler then computes on at once.
    #[inline(always)]
    fn columns<const IS_DENSE: bool>(
        &self,
        [state, rates, keys, queries]: [usize; 4],
        gain: T::Math,
        decay: Option<T::Math>,
        size: T::Math,
    ) -> T::Math {
        let step = |step: usize| if IS_DENSE { 1 } else { step };
        let steps = [self.state.steps[2], self.keys.steps[2], self.queries.steps[2]].map(step);
        let of_rates = self.rates.steps[2];
        let (whole, mut sums) = (self.state.width / LANES * LANES, [T::Math::ZERO; LANES]);
        for first in (0..whole).step_by(LANES) {
            let rates = || self.rates.elements.strided::<LANES>(rates + first * of_rates, of_rates);
            let decays = decay.map_or_else(|| rates().map(|rate| (size * rate.raise()).exp()), |decay| [decay; LANES]);
            let keys = self.keys.elements.strided::<LANES>(keys + first * steps[1], steps[1]);
            let queries = self.queries.elements.strided::<LANES>(queries + first * steps[2], steps[2]);
            let lanes = self.state.elements.window(state + first * steps[0], (LANES - 1) * steps[0] + 1);
            let old = lanes.as_input().strided::<LANES>(0, steps[0]);
            for lane in 0..LANES {
                let new = decays[lane] * old[lane].raise() + gain * keys[lane].raise();
                lanes.set(lane * steps[0], T::lower(new));
                sums[lane] = sums[lane] + new * queries[lane].raise();
            }
        }
        let mut sum = sums.into_iter().fold(T::Math::ZERO, |sum, lane| sum + lane);
        for column in whole..self.state.width {
            let own = || (size * self.rates.elements.get(rates + column * of_rates).raise()).exp();
            let (decay, place) = (decay.unwrap_or_else(own), state + column * steps[0]);
            let key = self.keys.elements.get(keys + column * steps[1]).raise();
            let new = decay * self.state.elements.get(place).raise() + gain * key;
            self.state.elements.set(place, T::lower(new));
            sum = sum + new * self.queries.elements.get(queries + column * steps[2]).raise();
        }
        sum
    }
}

//! `etbuild::gated_delta`: the gated delta rule over the rows of a prefill chunk, or of a decode step.

use crate::etbuild::span;
use crate::etbuild::state::{LANES, State, View, softplus};
use crate::family::opmath::Opmath;
use crate::math::Math;
use crate::prelude::*;
use et_core::Input;

/// Linear attention by the gated delta rule (Yang et al. 2024): for each row, `state` fades by `exp(step * rate)` with
/// `step = softplus(steps + biases)`, then `state += share * (value - state * key) key`, and the output is `state * query`.
///
/// `values` are `[1, rows, heads, depth]`, `keys` and `queries` `[1, rows, groups, width]`, of which a group of neighbouring heads shares
/// each, `steps` and `shares` `[1, rows, heads]`, `rates` and `biases` `[heads]`. `state` is `[heads, depth, width]`, that of the text
/// before `start`, and zeros for a text that begins. The outputs are `[1, rows, heads, depth]`, with zeros in padding rows behind `last`,
/// and the state behind row `last`, or for a `last` of -1 the old state.
#[cfg(feature = "catalogue")]
pub const GATED_DELTA: Operator = Operator {
    schema: "etbuild::gated_delta.out(Tensor values, Tensor keys, Tensor queries, Tensor steps, Tensor shares, Tensor rates, \
             Tensor biases, Tensor state, Tensor start, Tensor last, *, Tensor(a!) out0, Tensor(b!) out1) \
             -> (Tensor(a!), Tensor(b!))",
    functional: "etbuild::gated_delta",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "a text that begins, with keys of two heads",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 2, 2, 1], &[1.0, -2.0, 0.5, 3.0])),
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[0.6, 0.8, -1.0, 0.5])),
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[2.0, 1.0, 0.5, -0.5])),
                Tensor(CaseTensor::float(&[1, 2, 2], &[0.5, -1.0, 25.0, 0.0])),
                Tensor(CaseTensor::float(&[1, 2, 2], &[0.5, 0.25, 1.0, 0.75])),
                Tensor(CaseTensor::float(&[2], &[-0.5, -0.25])),
                Tensor(CaseTensor::float(&[2], &[0.0, 1.0])),
                Tensor(CaseTensor::float(&[2, 1, 2], &[9.0; 4])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::long(&[1], &[1.0])),
            ],
            &[CaseTensor::float(&[1, 2, 2, 1], BEGINNING), CaseTensor::float(&[2, 1, 2], BEGUN)],
        ),
        Case::near(
            "a text that goes on, and a row that is no token",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[1.0, -2.0, 0.5, 3.0])),
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[0.6, 0.8, -1.0, 0.5])),
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[2.0, 1.0, 0.5, -0.5])),
                Tensor(CaseTensor::float(&[1, 2, 1], &[0.5, 4.0])),
                Tensor(CaseTensor::float(&[1, 2, 1], &[0.5, 4.0])),
                Tensor(CaseTensor::float(&[1], &[-0.5])),
                Tensor(CaseTensor::float(&[1], &[0.25])),
                Tensor(CaseTensor::float(&[1, 2, 2], &[1.0, 2.0, 3.0, -4.0])),
                Tensor(CaseTensor::long(&[1], &[7.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
            ],
            &[CaseTensor::float(&[1, 2, 1, 2], GOING_ON), CaseTensor::float(&[1, 2, 2], GONE_ON)],
        ),
        Case::refused(
            "shares of other heads",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 1, 1], &[0.5])),
                Tensor(CaseTensor::float(&[1, 1, 2], &[0.5; 2])),
                Tensor(CaseTensor::float(&[1], &[-0.5])),
                Tensor(CaseTensor::float(&[1], &[0.25])),
                Tensor(CaseTensor::float(&[1, 1, 1], &[1.0])),
                Tensor(CaseTensor::long(&[1], &[7.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
            ],
            Error::InvalidArgument,
        ),
    ],
};

const BEGINNING: &[f64] = &[1.0, -1.0, -0.375000466, -1.610985567];
const BEGUN: &[f64] = &[-0.499999255, 0.250001677, -2.412030563, 0.809940571];
const GOING_ON: &[f64] = &[2.019539609, -0.07420296, 0.0, 0.0];
const GONE_ON: &[f64] = &[0.492579704, 1.034380201, 1.337125257, -2.748453475];

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let [values, keys, queries, steps] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?, args.tensor(3)?];
    let [shares, rates, biases, state] = [args.tensor(4)?, args.tensor(5)?, args.tensor(6)?, args.tensor(7)?];
    span::check(args, [8, 9])?;
    let (shape, rows_of_keys) = (values.shape(), keys.shape());
    let ([1, rows, heads, depth], [1, own_rows, groups, width]) = (shape.sizes(), rows_of_keys.sizes()) else {
        return Err(Error::InvalidArgument);
    };
    let fits = own_rows == rows
        && queries.shape() == rows_of_keys
        && [&steps, &shares].iter().all(|tensor| tensor.shape().sizes() == [1, *rows, *heads])
        && [&rates, &biases].iter().all(|tensor| tensor.shape().sizes() == [*heads])
        && state.shape().sizes() == [*heads, *depth, *width]
        && *groups > 0
        && heads % groups == 0;
    let others = [&keys, &queries, &steps, &shares, &rates, &biases, &state];
    if !fits || others.iter().any(|tensor| tensor.scalar_type() != values.scalar_type()) {
        return Err(Error::InvalidArgument);
    }
    let shape = if index == 0 { shape } else { state.shape() };
    Ok(Meta { scalar_type: values.scalar_type(), shape })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    for index in 0..2 {
        args.tensor(10 + index)?.settle(|| Ok(infer(args, index)?.shape))?;
    }
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => attend::<T>(args))
}

/// What a row gives a head.
struct Step<M> {
    decay: M,
    share: M,
}

fn attend<T: Opmath>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    let [values, keys, state, out, behind] =
        [args.tensor(0)?, args.tensor(1)?, args.tensor(7)?, args.tensor(10)?, args.tensor(11)?];
    let (rows, heads, depth) = (values.size(1), values.size(2), values.size(3));
    let (start, count) = span::read_some(args, [8, 9], rows)?;
    let view = |position: usize| View::<T>::of(&args.tensor(position)?);
    let (values, of_keys, queries) = (view(0)?, view(1)?, view(2)?);
    let (steps, shares, rates, biases) = (view(3)?, view(4)?, view(5)?, view(6)?);
    let memory = State::<T>::begin(&state, &behind, start > 0)?;
    let (to, to_steps, of_group) = (out.output::<T>()?, out.strides(), heads / keys.size(2));
    for row in 0..rows {
        for head in 0..heads {
            let of_head = |vector: &View<'_, T>| vector.get([0, 0, head]).raise();
            let now = |view: &View<'_, T>| view.get([0, row, head]).raise();
            let step = softplus(now(&steps) + of_head(&biases));
            let step = Step { decay: (step * of_head(&rates)).exp(), share: now(&shares) };
            for element in 0..depth {
                let made = if row < count {
                    let value = values.get([row, head, element]).raise();
                    let place = [row, head / of_group, 0];
                    memory.step([head, element], value, &step, [(&of_keys, place), (&queries, place)])
                } else {
                    T::Math::ZERO
                };
                to.set(row * to_steps[1] + head * to_steps[2] + element * to_steps[3], T::lower(made));
            }
        }
    }
    Ok(())
}

impl<T: Opmath> State<'_, T>
where
    T::Math: Math,
{
    /// Steps a row of the state of a head; returns the row's product with the query.
    fn step(
        &self,
        [head, element]: [usize; 2],
        value: T::Math,
        step: &Step<T::Math>,
        vectors: [(&View<'_, T>, [usize; 3]); 2],
    ) -> T::Math {
        let vectors =
            vectors.map(|(view, first)| Vector { elements: view.elements, first: view.at(first), step: view.steps[2] });
        let place = self.at([head, element, 0]);
        match [self.steps[2], vectors[0].step, vectors[1].step] {
            [1, 1, 1] => self.step_row::<true>(place, value, step, vectors),
            _ => self.step_row::<false>(place, value, step, vectors),
        }
    }

    /// The same. Elements of the row and of the vectors are neighbours in memory where `IS_DENSE`, which the compiler then computes on at
    /// once.
    #[inline(always)]
    fn step_row<const IS_DENSE: bool>(
        &self,
        place: usize,
        value: T::Math,
        step: &Step<T::Math>,
        [keys, queries]: [Vector<'_, T>; 2],
    ) -> T::Math {
        let apart = if IS_DENSE { 1 } else { self.steps[2] };
        let known = self.product::<IS_DENSE>(place, keys) * step.decay;
        let more = (value - known) * step.share;
        let whole = self.width / LANES * LANES;
        for column in (0..whole).step_by(LANES) {
            let keys = keys.lanes::<IS_DENSE>(column);
            let lanes = self.elements.window(place + column * apart, (LANES - 1) * apart + 1);
            let old = lanes.as_input().strided::<LANES>(0, apart);
            for lane in 0..LANES {
                let new = step.decay * old[lane].raise() + more * keys[lane].raise();
                lanes.set(lane * apart, T::lower(new));
            }
        }
        for column in whole..self.width {
            let place = place + column * apart;
            let new = step.decay * self.elements.get(place).raise() + more * keys.get(column);
            self.elements.set(place, T::lower(new));
        }
        self.product::<IS_DENSE>(place, queries)
    }

    /// The product of a row of the state with a vector.
    #[inline(always)]
    fn product<const IS_DENSE: bool>(&self, place: usize, vector: Vector<'_, T>) -> T::Math {
        let apart = if IS_DENSE { 1 } else { self.steps[2] };
        let (mut sums, whole) = ([T::Math::ZERO; LANES], self.width / LANES * LANES);
        for column in (0..whole).step_by(LANES) {
            let factors = vector.lanes::<IS_DENSE>(column);
            let old = self.elements.as_input().strided::<LANES>(place + column * apart, apart);
            for lane in 0..LANES {
                sums[lane] = sums[lane] + old[lane].raise() * factors[lane].raise();
            }
        }
        let mut sum = sums.into_iter().fold(T::Math::ZERO, |sum, lane| sum + lane);
        for column in whole..self.width {
            sum = sum + self.elements.get(place + column * apart).raise() * vector.get(column);
        }
        sum
    }
}

/// A key or a query.
#[derive(Clone, Copy)]
struct Vector<'a, T> {
    elements: Input<'a, T>,
    first: usize,
    step: usize,
}

impl<T: Opmath> Vector<'_, T> {
    fn get(self, column: usize) -> T::Math {
        self.elements.get(self.first + column * self.step).raise()
    }

    #[inline(always)]
    fn lanes<const IS_DENSE: bool>(self, column: usize) -> [T; LANES] {
        let step = if IS_DENSE { 1 } else { self.step };
        self.elements.strided(self.first + column * step, step)
    }
}

//! What operators with a state of one size share: tensors by row, head and element, and steps.

use core::array::from_fn;

use crate::family::opmath::Opmath;
use crate::math::Math;
use et_core::{Element, Input, Number, Output, Result, Tensor};

/// The elements of the state of a head that are computed at once.
pub const LANES: usize = 16;

/// Elements of a tensor by row, head or group, and element.
pub struct View<'a, T> {
    pub elements: Input<'a, T>,
    pub steps: [usize; 3],
}

impl<'a, T: Element> View<'a, T> {
    /// The last three dimensions of a tensor; a dimension of one element stands for any number.
    pub fn of(tensor: &Tensor<'a>) -> Result<Self> {
        let (strides, shape) = (tensor.strides(), tensor.shape());
        let rank = shape.rank();
        let step = |dim: usize| match (rank + dim).checked_sub(3) {
            Some(dim) if shape.size(dim) > 1 => strides[dim],
            _ => 0,
        };
        Ok(Self { elements: tensor.input()?, steps: from_fn(step) })
    }

    pub fn at(&self, index: [usize; 3]) -> usize {
        place(index, self.steps)
    }

    pub fn get(&self, index: [usize; 3]) -> T {
        self.elements.get(self.at(index))
    }
}

/// The place of an element.
pub fn place(index: [usize; 3], steps: [usize; 3]) -> usize {
    index.iter().zip(steps).map(|(index, step)| index * step).sum()
}

/// A state, `[heads, depth, width]`, that rows step in place.
pub struct State<'a, T> {
    pub elements: Output<'a, T>,
    pub steps: [usize; 3],
    pub width: usize,
}

impl<'a, T: Opmath> State<'a, T>
where
    T::Math: Math,
{
    /// The state ahead of the rows, in the place of the one behind them: `before` for a text that goes on, and zeros for one that begins.
    pub fn begin(before: &Tensor<'a>, behind: &Tensor<'a>, goes_on: bool) -> Result<Self> {
        let [heads, depth, width] = from_fn(|dim| before.size(dim));
        let state = Self { elements: behind.output()?, steps: from_fn(|dim| behind.strides()[dim]), width };
        if goes_on && before.is_contiguous() && behind.is_contiguous() {
            // A method may step its state in place.
            if before.data() != behind.data() {
                state.elements.copy_from(before.input()?);
            }
            return Ok(state);
        }
        let before = View::of(before)?;
        for head in 0..heads {
            for element in 0..depth {
                for column in 0..width {
                    let index = [head, element, column];
                    let old = if goes_on { before.get(index) } else { T::lower(T::Math::ZERO) };
                    state.elements.set(state.at(index), old);
                }
            }
        }
        Ok(state)
    }

    pub fn at(&self, index: [usize; 3]) -> usize {
        place(index, self.steps)
    }
}

/// `ln(1 + e^x)`, and `x` itself from 20 on.
pub fn softplus<M: Math>(x: M) -> M {
    if x > M::from_f64(20.0) { x } else { x.exp().ln_1p() }
}

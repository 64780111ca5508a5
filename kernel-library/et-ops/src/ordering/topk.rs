//! `aten::topk`: the `k` greatest or least elements along a dimension, in order, and their indices. NaN is greatest.

use core::cmp::Ordering;

use et_core::{Element, Input};

use crate::family::extremum::precedes;
use crate::family::lane::Lanes;
use crate::prelude::*;

/// `torch.topk`. Results are sorted even where that is not asked for; of equal elements, the first come first.
#[cfg(feature = "catalogue")]
pub const TOPK: Operator = Operator {
    schema: "aten::topk.values(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True, *, \
             Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)",
    functional: "aten::topk",
    path: kernel_path!(values),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: values::<ALL>,
    cases: &[
        Case::exact(
            "the greatest of each row",
            &[
                Tensor(CaseTensor::float(&[2, 4], &[1.0, 4.0, 2.0, 3.0, -1.0, f64::NAN, -3.0, -2.0])),
                Int(2),
                Int(-1),
                Bool(true),
                Bool(true),
            ],
            &[
                CaseTensor::float(&[2, 2], &[4.0, 3.0, f64::NAN, -1.0]),
                CaseTensor::long(&[2, 2], &[1.0, 3.0, 1.0, 0.0]),
            ],
        ),
        Case::exact(
            "the least of each column",
            &[
                Tensor(CaseTensor::long(&[3, 2], &[5.0, 1.0, 3.0, 2.0, 4.0, 0.0])),
                Int(1),
                Int(0),
                Bool(false),
                Bool(true),
            ],
            &[CaseTensor::long(&[1, 2], &[3.0, 0.0]), CaseTensor::long(&[1, 2], &[1.0, 2.0])],
        ),
        Case::refused(
            "more than there are",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Int(2), Int(0), Bool(true), Bool(true)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let (input, count) = (args.tensor(0)?, args.int(1)?);
    let mut shape = input.shape();
    let axis = shape.axis(args.int(2)?)?;
    if !(0..=shape.around(axis)[1] as i64).contains(&count) {
        return Err(Error::InvalidArgument);
    }
    if let Some(size) = shape.sizes_mut().get_mut(axis) {
        *size = count as i32;
    }
    Ok(Meta { scalar_type: if index == 0 { input.scalar_type() } else { ScalarType::Long }, shape })
}

/// The portable kernel for input dtypes `D`; indices are `int64` regardless of `D`.
pub fn values<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, shape) = (args.tensor(0)?, infer(args, 0)?.shape);
    args.tensor(5)?.resize(&shape)?;
    args.tensor(6)?.resize(&shape)?;
    dispatch!(D, input.scalar_type(), numbers, T => extremes::<T>(args))
}

fn extremes<T: Element>(args: &Args<'_, '_>) -> Result<()> {
    let [input, values, indices] = [args.tensor(0)?, args.tensor(5)?, args.tensor(6)?];
    let (from, to, places) = (input.input::<T>()?, values.output::<T>()?, indices.output::<i64>()?);
    let (shape, wanted) = (input.shape(), if args.bool(3)? { Ordering::Greater } else { Ordering::Less });
    let axis = shape.axis(args.int(2)?)?;
    let lanes = Lanes::new(&shape, axis, [&input, &values, &indices])?;
    let [from_step, to_step, place_step] = lanes.steps;
    for [start, to_start, place_start] in lanes {
        let lane = Lane { from, start, step: from_step, length: shape.around(axis)[1], wanted };
        let mut last = None;
        for rank in 0..args.int(1)? as usize {
            let Some((element, index)) = lane.after(last) else { break };
            to.set(to_start + rank * to_step, element);
            places.set(place_start + rank * place_step, index as i64);
            last = Some((element, index));
        }
    }
    Ok(())
}

/// The elements to choose from.
struct Lane<'a, T> {
    from: Input<'a, T>,
    start: usize,
    step: usize,
    length: usize,
    wanted: Ordering,
}

impl<T: Element> Lane<'_, T> {
    /// The best of the elements that come after `last` in the order of the result.
    fn after(&self, last: Option<(T, usize)>) -> Option<(T, usize)> {
        let elements = (0..self.length).map(|index| (self.from.get(self.start + index * self.step), index));
        let left = elements.filter(|element| last.is_none_or(|last| self.precedes(last, *element)));
        left.reduce(|best, element| if self.precedes(element, best) { element } else { best })
    }

    fn precedes(&self, left: (T, usize), right: (T, usize)) -> bool {
        precedes(left, right, self.wanted)
    }
}

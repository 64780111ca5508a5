//! `aten::sort`: the elements along a dimension in order, with their original indices. NaN is greatest.

use et_core::{Element, Output};

use crate::family::lane::Lanes;
use crate::family::unary;
use crate::prelude::*;

/// `torch.sort`. Of equal elements, the first come first.
#[cfg(feature = "catalogue")]
pub const SORT: Operator = Operator {
    schema: "aten::sort.values(Tensor self, int dim=-1, bool descending=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)",
    functional: "aten::sort",
    path: kernel_path!(values),
    dtypes: Dtypes::ALL,
    infer: infer::<1>,
    kernel: values::<ALL>,
    cases: &[
        Case::exact(
            "rows, upwards",
            &[
                Tensor(CaseTensor::float(&[2, 4], &[3.0, 1.0, f64::NAN, 2.0, 0.5, -1.0, 7.0, -1.0])),
                Int(-1),
                Bool(false),
            ],
            &[
                CaseTensor::float(&[2, 4], &[1.0, 2.0, 3.0, f64::NAN, -1.0, -1.0, 0.5, 7.0]),
                CaseTensor::long(&[2, 4], &[1.0, 3.0, 0.0, 2.0, 1.0, 3.0, 0.0, 2.0]),
            ],
        ),
        Case::exact(
            "a long column, downwards",
            &[Tensor(CaseTensor::long(&[10], &[5.0, 3.0, 9.0, 1.0, 7.0, 2.0, 8.0, 6.0, 4.0, 0.0])), Int(0), Bool(true)],
            &[
                CaseTensor::long(&[10], &[9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0]),
                CaseTensor::long(&[10], &[2.0, 6.0, 4.0, 7.0, 0.0, 8.0, 1.0, 5.0, 3.0, 9.0]),
            ],
        ),
        Case::exact(
            "a number",
            &[Tensor(CaseTensor::float(&[], &[2.0])), Int(0), Bool(false)],
            &[CaseTensor::float(&[], &[2.0]), CaseTensor::long(&[], &[0.0])],
        ),
        Case::refused(
            "a dimension that is not there",
            &[
                Tensor(CaseTensor::float(&[2, 4], &[3.0, 1.0, f64::NAN, 2.0, 0.5, -1.0, 7.0, -1.0])),
                Int(2),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.sort(stable=True)`.
#[cfg(feature = "catalogue")]
pub const SORT_STABLE: Operator = Operator {
    schema: "aten::sort.values_stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)",
    functional: "aten::sort.stable",
    path: kernel_path!(values_stable),
    dtypes: Dtypes::ALL,
    infer: infer::<2>,
    kernel: values_stable::<ALL>,
    cases: &[
        Case::exact(
            "equal elements, upwards",
            &[Tensor(CaseTensor::long(&[6], &[2.0, 1.0, 2.0, 1.0, 2.0, 1.0])), Bool(true), Int(0), Bool(false)],
            &[
                CaseTensor::long(&[6], &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]),
                CaseTensor::long(&[6], &[1.0, 3.0, 5.0, 0.0, 2.0, 4.0]),
            ],
        ),
        Case::exact(
            "equal elements of columns, downwards",
            &[Tensor(CaseTensor::bool(&[3, 2], &[1.0, 0.0, 0.0, 0.0, 1.0, 1.0])), Bool(true), Int(0), Bool(true)],
            &[
                CaseTensor::bool(&[3, 2], &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]),
                CaseTensor::long(&[3, 2], &[0.0, 2.0, 2.0, 0.0, 1.0, 1.0]),
            ],
        ),
        Case::refused(
            "a dimension that is not there",
            &[
                Tensor(CaseTensor::float(&[2, 4], &[3.0, 1.0, f64::NAN, 2.0, 0.5, -1.0, 7.0, -1.0])),
                Bool(true),
                Int(-3),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// The rule of a call whose dimension is in position `DIM`.
fn infer<const DIM: usize>(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let values = unary::like_first(args, 0)?;
    values.shape.axis(args.int(DIM)?)?;
    Ok(if index == 0 { values } else { Meta { scalar_type: ScalarType::Long, ..values } })
}

/// The portable kernel of `values` for input dtypes `D`; indices are `int64` regardless of `D`.
pub fn values<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    sort::<D>(args, 1)
}

/// The portable kernel of `values_stable` for input dtypes `D`; indices are `int64` regardless of `D`.
pub fn values_stable<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    sort::<D>(args, 2)
}

/// The arguments from `dim` on are `dim, descending, values, indices`.
fn sort<const D: u32>(args: &Args<'_, '_>, dim: usize) -> Result<()> {
    let input = args.tensor(0)?;
    args.tensor(dim + 2)?.settle(|| Ok(input.shape()))?;
    args.tensor(dim + 3)?.settle(|| Ok(input.shape()))?;
    dispatch!(D, input.scalar_type(), all, T => lanes::<T>(args, dim))
}

fn lanes<T: Element>(args: &Args<'_, '_>, dim: usize) -> Result<()> {
    let [input, values, indices] = [args.tensor(0)?, args.tensor(dim + 2)?, args.tensor(dim + 3)?];
    let (from, to, places) = (input.input::<T>()?, values.output::<T>()?, indices.output::<i64>()?);
    let (shape, descending) = (input.shape(), args.bool(dim + 1)?);
    let axis = shape.axis(args.int(dim)?)?;
    let lanes = Lanes::new(&shape, axis, [&input, &values, &indices])?;
    let [from_step, to_step, place_step] = lanes.steps;
    for [start, to_start, place_start] in lanes {
        let lane = Lane { to, to_start, to_step, places, place_start, place_step, descending };
        let length = shape.around(axis)[1];
        (0..length).for_each(|index| lane.set(index, (from.get(start + index * from_step), index as i64)));
        lane.sort(length);
    }
    Ok(())
}

/// The elements of a lane, each with an index.
struct Lane<'a, T> {
    to: Output<'a, T>,
    to_start: usize,
    to_step: usize,
    places: Output<'a, i64>,
    place_start: usize,
    place_step: usize,
    descending: bool,
}

impl<T: Element> Lane<'_, T> {
    fn get(&self, at: usize) -> (T, i64) {
        (self.to.get(self.to_start + at * self.to_step), self.places.get(self.place_start + at * self.place_step))
    }

    fn set(&self, at: usize, (element, index): (T, i64)) {
        self.to.set(self.to_start + at * self.to_step, element);
        self.places.set(self.place_start + at * self.place_step, index);
    }

    /// Heapsort, which needs no extra memory; comparing the indices of equal elements makes the sort stable.
    fn sort(&self, length: usize) {
        (0..length / 2).rev().for_each(|root| self.sift(root, length));
        for end in (1..length).rev() {
            let last = self.get(end);
            self.set(end, self.get(0));
            self.set(0, last);
            self.sift(0, end);
        }
    }

    /// Sifts the element at `root` down the heap of the first `end` elements, until no child comes after the element.
    fn sift(&self, mut root: usize, end: usize) {
        let moved = self.get(root);
        while 2 * root + 1 < end {
            let (left, right) = (2 * root + 1, 2 * root + 2);
            let child = if right < end && self.precedes(self.get(left), self.get(right)) { right } else { left };
            if !self.precedes(moved, self.get(child)) {
                break;
            }
            self.set(root, self.get(child));
            root = child;
        }
        self.set(root, moved);
    }

    fn precedes(&self, one: (T, i64), other: (T, i64)) -> bool {
        let (lesser, greater) = if self.descending { (other.0, one.0) } else { (one.0, other.0) };
        is_below(lesser, greater) || (!is_below(greater, lesser) && one.1 < other.1)
    }
}

/// Whether `one` is less; NaN is greatest, and not less than itself.
fn is_below<T: Element>(one: T, other: T) -> bool {
    let is_nan = |element: T| element.partial_cmp(&element).is_none();
    one < other || (is_nan(other) && !is_nan(one))
}

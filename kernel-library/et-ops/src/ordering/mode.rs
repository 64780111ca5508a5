//! `aten::mode`: the most frequent element along a dimension; the least of equally frequent ones. NaN equals NaN, and is
//! greatest.

use et_core::Number;

use crate::family::convert::{reading, writing};
use crate::family::extremum::{self, dimension};
use crate::family::pool::values_or_indices;
use crate::prelude::*;

/// `torch.mode`, with the index of the last of the equal elements. The time is quadratic in the length.
#[cfg(feature = "catalogue")]
pub const MODE: Operator = Operator {
    schema: "aten::mode.values(Tensor self, int dim=-1, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> \
             (Tensor(a!) values, Tensor(b!) indices)",
    functional: "aten::mode",
    path: kernel_path!(values),
    dtypes: Dtypes::ALL,
    infer,
    kernel: values::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[Tensor(CaseTensor::float(&[2, 4], &[4.0, 1.0, 4.0, 2.0, 5.0, 3.0, 3.0, 5.0])), Int(-1), Bool(false)],
            &[CaseTensor::float(&[2], &[4.0, 3.0]), CaseTensor::long(&[2], &[2.0, 2.0])],
        ),
        Case::exact(
            "columns of integers, kept",
            &[Tensor(CaseTensor::long(&[3, 2], &[5.0, 0.0, 3.0, 2.0, 5.0, 2.0])), Int(0), Bool(true)],
            &[CaseTensor::long(&[1, 2], &[5.0, 2.0]), CaseTensor::long(&[1, 2], &[2.0, 2.0])],
        ),
        Case::refused(
            "nothing",
            &[Tensor(CaseTensor::float(&[2, 0], &[])), Int(1), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    extremum::meta(args, dimension(args)?).map(|values| values_or_indices(values, index))
}

/// The portable kernel for input dtypes `D`; indices are `int64` regardless of `D`.
pub fn values<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    if args.tensor(0)?.scalar_type().is_float() { modes::<f64, D>(args) } else { modes::<i64, D>(args) }
}

fn modes<C: Number, const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, values, indices] = [args.tensor(0)?, args.tensor(3)?, args.tensor(4)?];
    let shape = infer(args, 0)?.shape;
    values.resize(&shape)?;
    indices.resize(&shape)?;
    let places = indices.output::<i64>()?;
    reading::<C, D>(&input, &mut |load| {
        writing::<C, D>(&values, &mut |store| {
            dimension(args)?.for_each(&input, [&values, &indices], |lane, [value_at, index_at]| {
                let elements = || lane.clone().map(load);
                let mut best: Option<(C, usize)> = None;
                for element in elements() {
                    let count = elements().filter(|other| is_same(*other, element)).count();
                    if best.is_none_or(|(held, most)| count > most || (count == most && is_before(element, held))) {
                        best = Some((element, count));
                    }
                }
                let (mode, _) = best.ok_or(Error::InvalidArgument)?;
                let last = elements().enumerate().filter(|(_, element)| is_same(*element, mode)).last();
                store(value_at, mode);
                places.set(index_at, last.map_or(0, |(index, _)| index as i64));
                Ok(())
            })
        })
    })
}

fn is_same<C: Number>(one: C, other: C) -> bool {
    one == other || (one.is_nan() && other.is_nan())
}

fn is_before<C: Number>(one: C, other: C) -> bool {
    one < other || (other.is_nan() && !one.is_nan())
}

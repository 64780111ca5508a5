//! `aten::nonzero`: the positions of the elements that are not 0, a row for each.

use et_core::Element;

use crate::family::choice;
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.nonzero`. NaN is not 0.
#[cfg(feature = "catalogue")]
pub const NONZERO: Operator = Operator {
    schema: "aten::nonzero.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::nonzero",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::bounded(
            "some elements",
            &[Tensor(CaseTensor::float(&[2, 3], &[0.0, -1.5, -0.0, f64::NAN, 0.0, 3.0]))],
            &[CaseTensor::long(&[3, 2], &[0.0, 1.0, 1.0, 0.0, 1.0, 2.0])],
        ),
        Case::exact("all", &[Tensor(CaseTensor::bool(&[2], &[1.0, 1.0]))], &[CaseTensor::long(&[2, 1], &[0.0, 1.0])]),
        Case::bounded("none", &[Tensor(CaseTensor::long(&[1, 2], &[0.0, 0.0]))], &[CaseTensor::long(&[0, 2], &[])]),
        Case::exact(
            "a number",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[], &[5.0]))],
            &[CaseTensor::long(&[1, 0], &[])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// A row per element at most, unless the caller knows better.
fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let shape = args.tensor(0)?.shape();
    let bound = Shape::new(&[shape.numel()? as i32, shape.rank() as i32])?;
    Ok(Meta { scalar_type: ScalarType::Long, shape: choice::shape(args, 1, bound)? })
}

/// The portable kernel for input dtypes `D`; positions are `int64` regardless of `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    dispatch!(D, input.scalar_type(), all, T => positions::<T>(&input, &out))
}

fn positions<T: Element>(input: &et_core::Tensor<'_>, out: &et_core::Tensor<'_>) -> Result<()> {
    let shape = input.shape();
    out.resize(&Shape::new(&[found::<T>(input, &shape)?.count() as i32, shape.rank() as i32])?)?;
    let to = out.output::<i64>()?;
    for (row, index) in found::<T>(input, &shape)?.enumerate() {
        write_row(&to, out.strides(), (row, index), &shape);
    }
    Ok(())
}

/// The row-major indices of the elements that are not 0.
pub(super) fn found<'a, T: Element>(
    input: &'a et_core::Tensor<'_>,
    shape: &'a Shape,
) -> Result<impl Iterator<Item = usize> + use<'a, T>> {
    let from = input.input::<T>()?;
    let indices = (0..).zip(Walk::over(shape, [Place::of(input)])?);
    Ok(indices.filter(move |(_, [at])| from.get(*at).cast::<bool>()).map(|(index, _)| index))
}

/// Writes the position of the element with a row-major index.
pub(super) fn write_row(
    to: &et_core::Output<'_, i64>,
    strides: [usize; et_core::MAX_RANK],
    (row, index): (usize, usize),
    shape: &Shape,
) {
    let mut rest = index;
    for dim in (0..shape.rank()).rev() {
        to.set(row * strides[0] + dim * strides[1], (rest % shape.size(dim)) as i64);
        rest /= shape.size(dim);
    }
}

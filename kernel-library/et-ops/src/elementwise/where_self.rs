//! `aten::where`: elements of the first tensor where a condition holds, else of the second; the three tensors
//! broadcast.

use et_core::Element;

use crate::family::binary::promote;
use crate::family::convert::{reading, writing};
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.where`.
#[cfg(feature = "catalogue")]
pub const WHERE_SELF: Operator = Operator {
    schema: "aten::where.self_out(Tensor condition, Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::where.self",
    path: kernel_path!(self_out),
    dtypes: Dtypes::ALL,
    infer: rule,
    kernel: self_out::<ALL>,
    cases: &[
        Case::exact(
            "all broadcast",
            &[
                Tensor(CaseTensor::bool(&[2, 1], &[1.0, 0.0])),
                Tensor(CaseTensor::float(&[3], &[1.0, f64::NAN, 3.0])),
                Tensor(CaseTensor::float(&[], &[-1.0])),
            ],
            &[CaseTensor::float(&[2, 3], &[1.0, f64::NAN, 3.0, -1.0, -1.0, -1.0])],
        ),
        Case::exact(
            "integers and floats promote",
            &[
                Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])),
                Tensor(CaseTensor::of(ScalarType::Int, &[2], &[1.0, 2.0])),
                Tensor(CaseTensor::float(&[2], &[0.5, 0.25])),
            ],
            &[CaseTensor::float(&[2], &[1.0, 0.25])],
        ),
        Case::exact(
            "a condition in bytes",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[2], &[0.0, 2.0])),
                Tensor(CaseTensor::long(&[2], &[1.0, 2.0])),
                Tensor(CaseTensor::long(&[2], &[5.0, 6.0])),
            ],
            &[CaseTensor::long(&[2], &[5.0, 2.0])],
        ),
        Case::refused(
            "a condition in numbers",
            &[
                Tensor(CaseTensor::long(&[1], &[1.0])),
                Tensor(CaseTensor::long(&[1], &[1.0])),
                Tensor(CaseTensor::long(&[1], &[2.0])),
            ],
            Error::InvalidType,
        ),
        Case::refused(
            "shapes that do not broadcast",
            &[
                Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])),
                Tensor(CaseTensor::float(&[3], &[1.0, 2.0, 3.0])),
                Tensor(CaseTensor::float(&[1], &[1.0])),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn rule(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (condition, left, right) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    Ok(Meta { scalar_type: promote(&left, &right), shape: broadcast([&condition, &left, &right])? })
}

fn broadcast([condition, left, right]: [&et_core::Tensor<'_>; 3]) -> Result<Shape> {
    condition.shape().broadcast(&left.shape())?.broadcast(&right.shape())
}

/// The portable kernel for the types in `D`.
pub fn self_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (condition, left, right, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?, args.tensor(3)?);
    if !matches!(condition.scalar_type(), ScalarType::Bool | ScalarType::Byte) {
        return Err(Error::InvalidType);
    }
    dispatch!(D, promote(&left, &right), all, T => select::<T, D>([&condition, &left, &right, &out]))
}

fn select<T: Element, const D: u32>([condition, left, right, out]: [&et_core::Tensor<'_>; 4]) -> Result<()> {
    let shape = broadcast([condition, left, right])?;
    out.resize(&shape)?;
    reading::<bool, D>(condition, &mut |holds| {
        reading::<T, D>(left, &mut |left_element| {
            reading::<T, D>(right, &mut |right_element| {
                writing::<T, D>(out, &mut |store| {
                    for [at, left_at, right_at, out_at] in Walk::new(&shape, [condition, left, right, out])? {
                        store(out_at, if holds(at) { left_element(left_at) } else { right_element(right_at) });
                    }
                    Ok(())
                })
            })
        })
    })
}

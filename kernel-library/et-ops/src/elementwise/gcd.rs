//! `aten::gcd`: the greatest common divisor of integers.

use crate::family::binary;
use crate::family::convert::{reading, writing};
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.gcd`.
#[cfg(feature = "catalogue")]
pub const GCD: Operator = Operator {
    schema: "aten::gcd.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::gcd",
    path: kernel_path!(out),
    dtypes: Dtypes::INTEGERS,
    infer: binary::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "signs and zeros",
            &[
                Tensor(CaseTensor::long(&[5], &[12.0, -18.0, 0.0, 5.0, 0.0])),
                Tensor(CaseTensor::long(&[5], &[8.0, 12.0, -7.0, 0.0, 0.0])),
            ],
            &[CaseTensor::long(&[5], &[4.0, 6.0, 7.0, 5.0, 0.0])],
        ),
        Case::exact(
            "types that differ, broadcast",
            &[
                Tensor(CaseTensor::of(ScalarType::Int, &[2, 1], &[12.0, 9.0])),
                Tensor(CaseTensor::of(ScalarType::Short, &[2], &[8.0, 6.0])),
            ],
            &[CaseTensor::of(ScalarType::Int, &[2, 2], &[4.0, 6.0, 1.0, 3.0])],
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [left, right, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    let shape = left.shape().broadcast(&right.shape())?;
    out.resize(&shape)?;
    reading::<i64, D>(&left, &mut |first| {
        reading::<i64, D>(&right, &mut |second| {
            writing::<i64, D>(&out, &mut |store| {
                Walk::new(&shape, [&left, &right, &out])?
                    .for_each(|[left_at, right_at, at]| store(at, divisor(first(left_at), second(right_at))));
                Ok(())
            })
        })
    })
}

fn divisor(mut left: i64, mut right: i64) -> i64 {
    while right != 0 {
        (left, right) = (right, left.wrapping_rem(right));
    }
    left.wrapping_abs()
}

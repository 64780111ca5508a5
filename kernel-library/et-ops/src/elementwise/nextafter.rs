//! `aten::nextafter`: the next number of the type in the direction of another.

use crate::family::binary;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.nextafter`.
#[cfg(feature = "catalogue")]
pub const NEXTAFTER: Operator = Operator {
    schema: "aten::nextafter.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::nextafter",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer: binary::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "up, down, not at all, and across 0",
            &[
                Tensor(CaseTensor::float(&[4], &[1.0, 1.0, 2.0, 0.0])),
                Tensor(CaseTensor::float(&[4], &[2.0, 0.0, 2.0, -1.0])),
            ],
            &[CaseTensor::float(
                &[4],
                &[1.000_000_119_209_289_6, 0.999_999_940_395_355_2, 2.0, -1.401_298_464_324_817e-45],
            )],
        ),
        Case::exact(
            "doubles",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2], &[-1.0, f64::NAN])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[-2.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[2], &[-1.000_000_000_000_000_2, f64::NAN])],
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [left, right, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    let shape = left.shape().broadcast(&right.shape())?;
    out.resize(&shape)?;
    dispatch!(D, out.scalar_type(), precise, T => {
        let (from, towards, to) = (left.input::<T>()?, right.input::<T>()?, out.output::<T>()?);
        Walk::new(&shape, [&left, &right, &out])?.for_each(|[left_at, right_at, at]| {
            let (x, end) = (from.get(left_at), towards.get(right_at));
            let next = if end > x { x.next_up() } else { x.next_down() };
            to.set(at, if x.is_nan() || end.is_nan() { x + end } else if x == end { end } else { next });
        });
        Ok(())
    })
}

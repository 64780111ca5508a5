//! `aten::atan2`: the angles of points `(other, self)`, from -pi to pi; broadcast and promoted.

use core::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use crate::family::real::Real;
use crate::family::{binary, real};
use crate::math::Math;
use crate::prelude::*;

/// `torch.atan2`.
#[cfg(feature = "catalogue")]
pub const ATAN2: Operator = Operator {
    schema: "aten::atan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::atan2",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "floats and special values",
            1e-6,
            &[
                Tensor(CaseTensor::float(
                    &[14],
                    &[
                        0.0,
                        -0.0,
                        0.0,
                        -0.0,
                        1.0,
                        -1.0,
                        f64::INFINITY,
                        f64::INFINITY,
                        f64::NEG_INFINITY,
                        f64::NAN,
                        0.5,
                        1.0,
                        1.0,
                        -1.0,
                    ],
                )),
                Tensor(CaseTensor::float(
                    &[14],
                    &[
                        0.0,
                        0.0,
                        -0.0,
                        -0.0,
                        0.0,
                        -0.0,
                        f64::INFINITY,
                        f64::NEG_INFINITY,
                        f64::NEG_INFINITY,
                        1.0,
                        -0.25,
                        f64::INFINITY,
                        f64::NEG_INFINITY,
                        f64::NEG_INFINITY,
                    ],
                )),
            ],
            &[CaseTensor::float(
                &[14],
                &[
                    0.0,
                    -0.0,
                    PI,
                    -PI,
                    FRAC_PI_2,
                    -FRAC_PI_2,
                    FRAC_PI_4,
                    2.3561945,
                    -2.3561945,
                    f64::NAN,
                    2.0344439,
                    0.0,
                    PI,
                    -PI,
                ],
            )],
        ),
        Case::near(
            "doubles, broadcast",
            1e-14,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1], &[1.0, -2.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2], &[3.0, -4.0])),
            ],
            &[CaseTensor::of(
                ScalarType::Double,
                &[2, 2],
                &[0.3217505543966422, 2.896613990462929, -0.5880026035475675, -2.677945044588987],
            )],
        ),
        Case::near(
            "halves",
            1e-3,
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[1.0, -2.0])),
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[3.0, -4.0])),
            ],
            &[CaseTensor::of(ScalarType::Half, &[2], &[0.32177734, -2.6777344])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[
                Tensor(CaseTensor::long(&[2], &[1.0, -1.0])),
                Tensor(CaseTensor::of(ScalarType::Int, &[2], &[2.0, -2.0])),
            ],
            &[CaseTensor::float(&[2], &[0.4636476, -2.6779451])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[1], &[1.0])), Tensor(CaseTensor::bool(&[1], &[1.0]))],
            &[CaseTensor::float(&[1], &[FRAC_PI_4])],
        ),
        Case::refused(
            "shapes that do not broadcast",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Tensor(CaseTensor::float(&[3], &[1.0, 2.0, 3.0]))],
            Error::InvalidArgument,
        ),
    ],
};

fn promoted(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let meta = binary::promoted(args, index)?;
    Ok(Meta { scalar_type: real::floated(meta.scalar_type), ..meta })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (height, width, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    dispatch!(D, real::floated(binary::promote(&height, &width)), floats, T => {
        binary::zip::<T, T, D>([&height, &width, &out], angle::<T>)
    })
}

fn angle<T: Real>(y: T, x: T) -> T {
    T::narrow(y.widen().atan2(x.widen()))
}

//! `aten::silu`: `x sigmoid(x)`.

use crate::family::real::{self, Function};
use crate::family::unary;
use crate::math::Math;
use crate::prelude::*;

/// `torch.nn.functional.silu`.
#[cfg(feature = "catalogue")]
pub const SILU: Operator = Operator {
    schema: "aten::silu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::silu",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "floats and special values",
            1e-6,
            &[Tensor(CaseTensor::float(
                &[12],
                &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[12],
                &[
                    -0.0,
                    -0.07194484,
                    -0.14227761,
                    -0.18877034,
                    0.0,
                    0.14054413,
                    2.8577225,
                    4.9665356,
                    90.0,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NAN,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(
                ScalarType::Double,
                &[9, 1],
                &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0],
            ))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[9, 1],
                &[
                    -3.720075976020836e-42,
                    -0.07194483984836623,
                    -0.14227761953270035,
                    -0.1887703343990727,
                    0.0,
                    0.14054412522144952,
                    2.8577223804672998,
                    4.966535745378576,
                    90.0,
                ],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[9], &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[9],
                &[-0.0, -0.07196045, -0.14233398, -0.1887207, 0.0, 0.14050293, 2.8574219, 4.9648438, 90.0],
            )],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(
                ScalarType::BFloat16,
                &[9],
                &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0],
            ))],
            &[CaseTensor::of(
                ScalarType::BFloat16,
                &[9],
                &[-0.0, -0.071777344, -0.14257812, -0.18847656, 0.0, 0.140625, 2.859375, 4.96875, 90.0],
            )],
        ),
        Case::refused("integers", &[Tensor(CaseTensor::long(&[1], &[1.0]))], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::activate::<Silu, D>(args)
}

struct Silu;

impl Function for Silu {
    fn of<M: Math>(x: M) -> M {
        x / (M::ONE + (-x).exp())
    }
}

//! `aten::native_layer_norm`: each sample normalized over the trailing dimensions `normalized_shape`; also gives means and
//! reciprocals of standard deviations.

use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::family::{transfer, unary};
use crate::math::Math;
use crate::normalization::rows;
use crate::prelude::*;

/// `torch.native_layer_norm`.
#[cfg(feature = "catalogue")]
pub const NATIVE_LAYER_NORM: Operator = Operator {
    schema: "aten::native_layer_norm.out(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, \
             float eps, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    functional: "aten::native_layer_norm",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "rows with weight and bias",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[2, 2], &[1.0, 3.0, -4.0, 4.0])),
                Ints(&[2]),
                Tensor(CaseTensor::float(&[2], &[2.0, 0.5])),
                Tensor(CaseTensor::float(&[2], &[10.0, 20.0])),
                Double(0.0),
            ],
            &[
                CaseTensor::float(&[2, 2], &[8.0, 20.5, 8.0, 20.5]),
                CaseTensor::float(&[2, 1], &[2.0, 0.0]),
                CaseTensor::float(&[2, 1], &[1.0, 0.25]),
            ],
        ),
        Case::near(
            "two dimensions in double precision with an epsilon",
            1e-14,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 2], &[1.0, 1.0, 3.0, 3.0])),
                Ints(&[2, 2]),
                CaseArgument::None,
                CaseArgument::None,
                Double(3.0),
            ],
            &[
                CaseTensor::of(ScalarType::Double, &[1, 2, 2], &[-0.5, -0.5, 0.5, 0.5]),
                CaseTensor::of(ScalarType::Double, &[1, 1, 1], &[2.0]),
                CaseTensor::of(ScalarType::Double, &[1, 1, 1], &[0.5]),
            ],
        ),
        Case::refused(
            "a shape that is not that of the trailing dimensions",
            &[
                Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])),
                Ints(&[2]),
                CaseArgument::None,
                CaseArgument::None,
                Double(1e-5),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let leading = rows::leading(args, &[2, 3])?;
    if index == 0 {
        return unary::like_first(args, 0);
    }
    transfer::reshaped(args, rows::samples(&args.tensor(0)?.shape(), leading))
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    for index in 0..3 {
        args.tensor(5 + index)?.settle(|| Ok(infer(args, index)?.shape))?;
    }
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => normalize::<T>(args))
}

fn normalize<T: Opmath>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    let [out, means, reciprocals] = [args.tensor(5)?, args.tensor(6)?, args.tensor(7)?];
    let (mean_elements, reciprocal_elements) = (means.output::<T>()?, reciprocals.output::<T>()?);
    let mut places = Walk::over(&means.shape(), [&means, &reciprocals].map(Place::of))?;
    rows::normalize::<T>(args, &out, |[mean, reciprocal]| {
        if let Some([mean_at, reciprocal_at]) = places.next() {
            mean_elements.set(mean_at, T::lower(mean));
            reciprocal_elements.set(reciprocal_at, T::lower(reciprocal));
        }
    })
}

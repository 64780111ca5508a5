//! `aten::_native_batch_norm_legit_no_training`: each channel normalized by running statistics. The two outputs for batch
//! statistics are empty.

use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::{transfer, unary};
use crate::math::Math;
use crate::normalization::normalize::{Normalizer, fits_channels, per_channel};
use crate::prelude::*;

/// `torch.nn.functional.batch_norm` outside training.
#[cfg(feature = "catalogue")]
pub const NATIVE_BATCH_NORM_LEGIT_NO_TRAINING: Operator = Operator {
    schema: "aten::_native_batch_norm_legit_no_training.out(Tensor input, Tensor? weight, Tensor? bias, \
             Tensor running_mean, Tensor running_var, float momentum, float eps, *, Tensor(a!) out0, Tensor(b!) out1, \
             Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    functional: "aten::_native_batch_norm_legit_no_training",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "images with weight and bias",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[1.0, 3.0, 5.0, 7.0])),
                Tensor(CaseTensor::float(&[2], &[2.0, 0.5])),
                Tensor(CaseTensor::float(&[2], &[10.0, 20.0])),
                Tensor(CaseTensor::float(&[2], &[1.0, 5.0])),
                Tensor(CaseTensor::float(&[2], &[4.0, 0.25])),
                Double(0.1),
                Double(0.0),
            ],
            &[
                CaseTensor::float(&[1, 2, 1, 2], &[10.0, 12.0, 20.0, 22.0]),
                CaseTensor::float(&[0], &[]),
                CaseTensor::float(&[0], &[]),
            ],
        ),
        Case::near(
            "a matrix in double precision with an epsilon",
            1e-14,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1], &[1.0, 2.0])),
                CaseArgument::None,
                CaseArgument::None,
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[0.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[3.0])),
                Double(0.1),
                Double(1.0),
            ],
            &[
                CaseTensor::of(ScalarType::Double, &[2, 1], &[0.5, 1.0]),
                CaseTensor::of(ScalarType::Double, &[0], &[]),
                CaseTensor::of(ScalarType::Double, &[0], &[]),
            ],
        ),
        Case::refused(
            "statistics of another number of channels",
            &[
                Tensor(CaseTensor::float(&[1, 2], &[1.0, 2.0])),
                CaseArgument::None,
                CaseArgument::None,
                Tensor(CaseTensor::float(&[1], &[0.0])),
                Tensor(CaseTensor::float(&[1], &[1.0])),
                Double(0.1),
                Double(1e-5),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let shape = args.tensor(0)?.shape();
    for position in 1..=4 {
        if shape.rank() < 2 || !fits_channels(args.optional_tensor(position)?.as_ref(), shape.size(1)) {
            return Err(Error::InvalidArgument);
        }
    }
    if index == 0 { unary::like_first(args, 0) } else { transfer::reshaped(args, Shape::new(&[0])?) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    for index in 0..3 {
        args.tensor(7 + index)?.settle(|| Ok(infer(args, index)?.shape))?;
    }
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => normalize::<T>(args))
}

fn normalize<T: Opmath>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    let [input, out, means, variances] = [args.tensor(0)?, args.tensor(7)?, args.tensor(3)?, args.tensor(4)?];
    let parameters = [args.optional_tensor(1)?, args.optional_tensor(2)?];
    let normalizer = Normalizer::<T>::new([&input, &out], parameters, args.double(6)?)?;
    let (means, variances) = (means.input::<T>()?, variances.input::<T>()?);
    let mut slice = input.shape();
    let channels = slice.size(1);
    slice.sizes_mut()[1] = 1;
    let places =
        [Place::of(&input), Place::of(&out), per_channel(parameters[0].as_ref()), per_channel(parameters[1].as_ref())];
    for channel in 0..channels {
        let reciprocal = normalizer.reciprocal_deviation(variances.get(channel).raise());
        let at = places.map(|place| place.moved(1, channel as i64));
        normalizer.by(&slice, at, [means.get(channel).raise(), reciprocal])?;
    }
    Ok(())
}

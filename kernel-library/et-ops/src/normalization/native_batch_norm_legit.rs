//! `aten::_native_batch_norm_legit`: normalizes each channel by the channel's statistics, or outside training by the
//! running statistics.

use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::{transfer, unary};
use crate::math::Math;
use crate::normalization::normalize::{Normalizer, fits_channels, per_channel};
use crate::prelude::*;

/// `torch.nn.functional.batch_norm` without running statistics.
#[cfg(feature = "catalogue")]
pub const NATIVE_BATCH_NORM_LEGIT_NO_STATS: Operator = Operator {
    schema: "aten::_native_batch_norm_legit.no_stats_out(Tensor input, Tensor? weight, Tensor? bias, bool training, \
             float momentum, float eps, *, Tensor(a!) out, Tensor(b!) save_mean, Tensor(c!) save_invstd) \
             -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    functional: "aten::_native_batch_norm_legit.no_stats",
    path: kernel_path!(no_stats_out),
    dtypes: Dtypes::FLOATS,
    infer: infer_by_own,
    kernel: no_stats_out::<ALL>,
    cases: &[
        Case::near(
            "two channels with weight and bias",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[2, 2, 1], &[1.0, 3.0, 5.0, 9.0])),
                Tensor(CaseTensor::float(&[2], &[2.0, 0.5])),
                Tensor(CaseTensor::float(&[2], &[10.0, 20.0])),
                Bool(true),
                Double(0.1),
                Double(0.0),
            ],
            &[
                CaseTensor::float(&[2, 2, 1], &[8.0, 19.5, 12.0, 20.5]),
                CaseTensor::float(&[2], &[3.0, 6.0]),
                CaseTensor::float(&[2], &[0.5, 1.0 / 3.0]),
            ],
        ),
        Case::near(
            "with an epsilon in double precision",
            1e-14,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 1, 2], &[-1.0, 1.0])),
                CaseArgument::None,
                CaseArgument::None,
                Bool(true),
                Double(0.1),
                Double(3.0),
            ],
            &[
                CaseTensor::of(ScalarType::Double, &[1, 1, 1, 2], &[-0.5, 0.5]),
                CaseTensor::of(ScalarType::Double, &[1], &[0.0]),
                CaseTensor::of(ScalarType::Double, &[1], &[0.5]),
            ],
        ),
        Case::refused(
            "outside training",
            &[
                Tensor(CaseTensor::float(&[1, 1], &[1.0])),
                CaseArgument::None,
                CaseArgument::None,
                Bool(false),
                Double(0.1),
                Double(1e-5),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.nn.functional.batch_norm` outside training; updating running statistics is not for devices.
#[cfg(feature = "catalogue")]
pub const NATIVE_BATCH_NORM_LEGIT: Operator = Operator {
    schema: "aten::_native_batch_norm_legit.out(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, \
             Tensor(b!) running_var, bool training, float momentum, float eps, *, Tensor(d!) out, \
             Tensor(e!) save_mean, Tensor(f!) save_invstd) -> (Tensor(d!), Tensor(e!), Tensor(f!))",
    functional: "aten::_native_batch_norm_legit",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: infer_by_running,
    kernel: out::<ALL>,
    cases: &[Case::near(
        "running statistics",
        1e-6,
        &[
            Tensor(CaseTensor::float(&[1, 2, 1, 2], &[1.0, 3.0, 5.0, 7.0])),
            Tensor(CaseTensor::float(&[2], &[2.0, 0.5])),
            Tensor(CaseTensor::float(&[2], &[10.0, 20.0])),
            Tensor(CaseTensor::float(&[2], &[1.0, 5.0])),
            Tensor(CaseTensor::float(&[2], &[4.0, 0.25])),
            Bool(false),
            Double(0.1),
            Double(0.0),
        ],
        &[
            CaseTensor::float(&[1, 2, 1, 2], &[10.0, 12.0, 20.0, 22.0]),
            CaseTensor::float(&[0], &[]),
            CaseTensor::float(&[0], &[]),
        ],
    )],
};

fn infer_by_own(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let shape = args.tensor(0)?.shape();
    let fits = |position| Ok(fits_channels(args.optional_tensor(position)?.as_ref(), shape.size(1)));
    if shape.rank() < 2 || !args.bool(3)? || !fits(1)? || !fits(2)? || shape.numel()? == 0 {
        return Err(Error::InvalidArgument);
    }
    let channels = Shape::new(&shape.sizes()[1..2])?;
    if index == 0 { unary::like_first(args, 0) } else { transfer::reshaped(args, channels) }
}

/// The portable kernel for the types in `D`.
pub fn no_stats_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    for index in 0..3 {
        args.tensor(6 + index)?.settle(|| Ok(infer_by_own(args, index)?.shape))?;
    }
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => by_own::<T>(args))
}

fn by_own<T: Opmath>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    let [input, out, means, reciprocals] = [args.tensor(0)?, args.tensor(6)?, args.tensor(7)?, args.tensor(8)?];
    let parameters = [args.optional_tensor(1)?, args.optional_tensor(2)?];
    let normalizer = Normalizer::<T>::new([&input, &out], parameters, args.double(5)?)?;
    let (means, reciprocals) = (means.output::<T>()?, reciprocals.output::<T>()?);
    let (channel, places) = channel(&input, &out, &parameters);
    for index in 0..input.size(1) {
        let at = places.map(|place| place.moved(1, index as i64));
        let [mean, reciprocal] = normalizer.by_own(&channel, at)?;
        means.set(index, T::lower(mean));
        reciprocals.set(index, T::lower(reciprocal));
    }
    Ok(())
}

fn infer_by_running(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let shape = args.tensor(0)?.shape();
    for position in 1..=4 {
        if shape.rank() < 2 || !fits_channels(args.optional_tensor(position)?.as_ref(), shape.size(1)) {
            return Err(Error::InvalidArgument);
        }
    }
    if args.bool(5)? {
        return Err(Error::NotSupported);
    }
    if index == 0 { unary::like_first(args, 0) } else { transfer::reshaped(args, Shape::new(&[0])?) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    for index in 0..3 {
        args.tensor(8 + index)?.settle(|| Ok(infer_by_running(args, index)?.shape))?;
    }
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => by_running::<T>(args))
}

fn by_running<T: Opmath>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    let [input, out, means, variances] = [args.tensor(0)?, args.tensor(8)?, args.tensor(3)?, args.tensor(4)?];
    let parameters = [args.optional_tensor(1)?, args.optional_tensor(2)?];
    let normalizer = Normalizer::<T>::new([&input, &out], parameters, args.double(7)?)?;
    let (means, variances) = (means.input::<T>()?, variances.input::<T>()?);
    let (channel, places) = channel(&input, &out, &parameters);
    for index in 0..input.size(1) {
        let reciprocal = normalizer.reciprocal_deviation(variances.get(index).raise());
        let at = places.map(|place| place.moved(1, index as i64));
        normalizer.by(&channel, at, [means.get(index).raise(), reciprocal])?;
    }
    Ok(())
}

/// The box of the first channel, and the place of the box in input, output, weight and bias.
fn channel(
    input: &et_core::Tensor<'_>,
    out: &et_core::Tensor<'_>,
    [weight, bias]: &[Option<et_core::Tensor<'_>>; 2],
) -> (Shape, [Place; 4]) {
    let mut shape = input.shape();
    if let Some(channels) = shape.sizes_mut().get_mut(1) {
        *channels = 1;
    }
    (shape, [Place::of(input), Place::of(out), per_channel(weight.as_ref()), per_channel(bias.as_ref())])
}

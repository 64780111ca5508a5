//! `aten::native_layer_norm`: each sample normalized over the trailing dimensions `normalized_shape`; also gives means and
//! reciprocals of standard deviations.

use crate::family::normalize::Normalizer;
use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::family::{transfer, unary};
use crate::math::Math;
use crate::prelude::*;

/// `torch.native_layer_norm`.
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

/// The number of dimensions before the normalized ones.
fn leading(args: &Args<'_, '_>) -> Result<usize> {
    let (shape, normalized) = (args.tensor(0)?.shape(), args.ints(1)?);
    let leading = shape.rank().checked_sub(normalized.len()).ok_or(Error::InvalidArgument)?;
    let trailing = &shape.sizes()[leading..];
    let equal =
        !normalized.is_empty() && trailing.iter().zip(normalized.iter()).all(|(size, it)| i64::from(*size) == *it);
    let fits = |position| Ok(args.optional_tensor(position)?.is_none_or(|tensor| tensor.shape().sizes() == trailing));
    if equal && fits(2)? && fits(3)? { Ok(leading) } else { Err(Error::InvalidArgument) }
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let leading = leading(args)?;
    if index == 0 { unary::like_first(args, 0) } else { transfer::reshaped(args, first_of_lanes(args, leading)?) }
}

/// The shape of the input with 1 for the normalized dimensions.
fn first_of_lanes(args: &Args<'_, '_>, leading: usize) -> Result<Shape> {
    let mut shape = args.tensor(0)?.shape();
    shape.sizes_mut()[leading..].fill(1);
    Ok(shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    for index in 0..3 {
        args.tensor(5 + index)?.resize(&infer(args, index)?.shape)?;
    }
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => normalize::<T>(args))
}

fn normalize<T: Opmath>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    let [input, out, means, reciprocals] = [args.tensor(0)?, args.tensor(5)?, args.tensor(6)?, args.tensor(7)?];
    let (parameters, leading) = ([args.optional_tensor(2)?, args.optional_tensor(3)?], leading(args)?);
    let normalizer = Normalizer::<T>::new([&input, &out], parameters, args.double(4)?)?;
    let (mean_elements, reciprocal_elements) = (means.output::<T>()?, reciprocals.output::<T>()?);
    let shape = input.shape();
    let mut lane = shape;
    lane.sizes_mut()[..leading].fill(1);
    let [from, to, mean, reciprocal] = [&input, &out, &means, &reciprocals].map(Place::of);
    let [weight, bias] = parameters.map(|tensor| tensor.map(|tensor| Place::broadcast(&tensor, &shape)).transpose());
    let [weight, bias] = [weight?.unwrap_or(from), bias?.unwrap_or(from)];
    for [from_at, to_at, mean_at, reciprocal_at] in
        Walk::over(&first_of_lanes(args, leading)?, [from, to, mean, reciprocal])?
    {
        let statistics = normalizer.by_own(&lane, [from.at(from_at), to.at(to_at), weight, bias])?;
        mean_elements.set(mean_at, T::lower(statistics[0]));
        reciprocal_elements.set(reciprocal_at, T::lower(statistics[1]));
    }
    Ok(())
}

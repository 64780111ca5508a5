//! `aten::native_group_norm`: each group of channels of each sample normalized; also gives means and reciprocals of standard
//! deviations, `[n, group]`.

use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::spatial::{natural, push};
use crate::family::{transfer, unary};
use crate::math::Math;
use crate::normalization::groups;
use crate::prelude::*;

/// `torch.native_group_norm`.
#[cfg(feature = "catalogue")]
pub const NATIVE_GROUP_NORM: Operator = Operator {
    schema: "aten::native_group_norm.out(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, \
             int group, float eps, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) \
             -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    functional: "aten::native_group_norm",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "two groups with weight and bias",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 4, 1], &[1.0, 3.0, -4.0, 4.0])),
                Tensor(CaseTensor::float(&[4], &[2.0, 0.5, 1.0, 1.0])),
                Tensor(CaseTensor::float(&[4], &[10.0, 20.0, 0.0, 0.0])),
                Int(1),
                Int(4),
                Int(1),
                Int(2),
                Double(0.0),
            ],
            &[
                CaseTensor::float(&[1, 4, 1], &[8.0, 20.5, -1.0, 1.0]),
                CaseTensor::float(&[1, 2], &[2.0, 0.0]),
                CaseTensor::float(&[1, 2], &[1.0, 0.25]),
            ],
        ),
        Case::near(
            "images in double precision",
            1e-14,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1, 1, 2], &[1.0, 3.0, 5.0, 7.0])),
                CaseArgument::None,
                CaseArgument::None,
                Int(2),
                Int(1),
                Int(2),
                Int(1),
                Double(3.0),
            ],
            &[
                CaseTensor::of(ScalarType::Double, &[2, 1, 1, 2], &[-0.5, 0.5, -0.5, 0.5]),
                CaseTensor::of(ScalarType::Double, &[2, 1], &[2.0, 6.0]),
                CaseTensor::of(ScalarType::Double, &[2, 1], &[0.5, 0.5]),
            ],
        ),
        Case::refused(
            "groups that do not divide the channels",
            &[
                Tensor(CaseTensor::float(&[1, 3, 1], &[1.0; 3])),
                CaseArgument::None,
                CaseArgument::None,
                Int(1),
                Int(3),
                Int(1),
                Int(2),
                Double(1e-5),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// Samples and groups.
fn sizes(args: &Args<'_, '_>) -> Result<[usize; 2]> {
    let shape = args.tensor(0)?.shape();
    let groups = groups::groups(&shape, args.int(6)?, &parameters(args)?)?;
    let [_, _, pixels] = shape.around(1);
    let named = [natural(args.int(3)?)?, natural(args.int(4)?)?, natural(args.int(5)?)?];
    if named == [shape.size(0), shape.size(1), pixels] {
        Ok([shape.size(0), groups])
    } else {
        Err(Error::InvalidArgument)
    }
}

/// Weight and bias.
fn parameters<'p>(args: &Args<'p, '_>) -> Result<[Option<et_core::Tensor<'p>>; 2]> {
    Ok([args.optional_tensor(1)?, args.optional_tensor(2)?])
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let [samples, groups] = sizes(args)?;
    if index == 0 {
        return unary::like_first(args, 0);
    }
    let mut shape = Shape::SCALAR;
    push(&mut shape, samples)?;
    push(&mut shape, groups)?;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    for index in 0..3 {
        args.tensor(8 + index)?.settle(|| Ok(infer(args, index)?.shape))?;
    }
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => normalize::<T>(args))
}

fn normalize<T: Opmath>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    let [input, out, means, reciprocals] = [args.tensor(0)?, args.tensor(8)?, args.tensor(9)?, args.tensor(10)?];
    let (mean_elements, reciprocal_elements) = (means.output::<T>()?, reciprocals.output::<T>()?);
    let [_, groups] = sizes(args)?;
    let settings = (groups, args.double(7)?);
    groups::normalize::<T>([&input, &out], parameters(args)?, settings, |[sample, group], [mean, reciprocal]| {
        let entry = |tensor| Place::of(tensor).moved(0, sample).moved(1, group).start;
        mean_elements.set(entry(&means), T::lower(mean));
        reciprocal_elements.set(entry(&reciprocals), T::lower(reciprocal));
    })
}

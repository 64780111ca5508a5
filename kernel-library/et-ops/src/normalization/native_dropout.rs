//! `aten::native_dropout`: outside training, a copy of the input.

use et_core::Element;

use crate::family::opmath::Opmath;
use crate::family::random::Random;
use crate::family::unary;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.nn.functional.dropout` with the mask of kept elements. In training every call keeps the same positions.
#[cfg(feature = "catalogue")]
pub const NATIVE_DROPOUT: Operator = Operator {
    schema: "aten::native_dropout.out(Tensor input, float p, bool? train, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
    functional: "aten::native_dropout",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "outside training",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, -2.0, f64::NAN, 4.0])), Double(0.5), Bool(false)],
            &[
                CaseTensor::float(&[2, 2], &[1.0, -2.0, f64::NAN, 4.0]),
                CaseTensor::bool(&[2, 2], &[1.0, 1.0, 1.0, 1.0]),
            ],
        ),
        Case::exact(
            "in training, nothing dropped",
            &[Tensor(CaseTensor::float(&[2], &[1.0, -2.0])), Double(0.0), Bool(true)],
            &[CaseTensor::float(&[2], &[1.0, -2.0]), CaseTensor::bool(&[2], &[1.0, 1.0])],
        ),
        Case::exact(
            "in training, all dropped",
            &[Tensor(CaseTensor::of(ScalarType::Half, &[2], &[1.0, -2.0])), Double(1.0), CaseArgument::None],
            &[CaseTensor::of(ScalarType::Half, &[2], &[0.0, -0.0]), CaseTensor::bool(&[2], &[0.0, 0.0])],
        ),
        Case::refused(
            "a probability above 1",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Double(1.5), Bool(true)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    if index == 0 { unary::like_first(args, 0) } else { unary::boolean(args, 0) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, out, mask] = [args.tensor(0)?, args.tensor(3)?, args.tensor(4)?];
    out.settle(|| Ok(input.shape()))?;
    mask.settle(|| Ok(input.shape()))?;
    dispatch!(D, input.scalar_type(), floats, T => dropped::<T>(args))
}

fn dropped<T: Opmath>(args: &Args<'_, '_>) -> Result<()> {
    let [input, out, mask] = [args.tensor(0)?, args.tensor(3)?, args.tensor(4)?];
    let (from, to, kept) = (input.input::<T>()?, out.output::<T>()?, mask.output::<bool>()?);
    let (chance, mut random) = (chance_of_dropping(args)?, Random::new(0, 0, 0));
    let scale = if chance < 1.0 { T::Math::from_f64(1.0 / (1.0 - chance)) } else { T::Math::ZERO };
    for [from_at, to_at, mask_at] in Walk::new(&input.shape(), [&input, &out, &mask])? {
        let keep = random.fraction() >= chance;
        let factor = if keep { scale } else { T::Math::ZERO };
        to.set(to_at, T::lower(from.get(from_at).raise().times(factor)));
        kept.set(mask_at, keep);
    }
    Ok(())
}

/// The probability that an element is dropped; 0 outside training.
fn chance_of_dropping(args: &Args<'_, '_>) -> Result<f64> {
    let (chance, training) = (args.double(1)?, args.optional_bool(2)?.unwrap_or(true));
    match (0.0..=1.0).contains(&chance) {
        true => Ok(if training { chance } else { 0.0 }),
        false => Err(Error::InvalidArgument),
    }
}

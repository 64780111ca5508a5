//! `aten::clamp`: clamps each element to a lower and an upper bound, in the promoted dtype.

use et_core::Scalar;

use crate::family::binary::promote_all;
use crate::family::bound::{bound, bounds};
use crate::family::convert::{Reader, reading, writing};
use crate::family::unary;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.clamp` with scalar bounds, either of which may be absent.
#[cfg(feature = "catalogue")]
pub const CLAMP: Operator = Operator {
    schema: "aten::clamp.out(Tensor self, Scalar? min=None, Scalar? max=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::clamp",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: rule,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "both bounds",
            &[Tensor(CaseTensor::float(&[2, 2], &[-2.0, 0.5, 3.0, f64::NAN])), Int(-1), Double(1.5)],
            &[CaseTensor::float(&[2, 2], &[-1.0, 0.5, 1.5, f64::NAN])],
        ),
        Case::exact(
            "a lower bound only",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[2], &[-3.0, 5.0])), Int(0), CaseArgument::None],
            &[CaseTensor::of(ScalarType::Int, &[2], &[0.0, 5.0])],
        ),
        Case::exact(
            "an upper bound only",
            &[Tensor(CaseTensor::of(ScalarType::Half, &[2], &[-3.0, 5.0])), CaseArgument::None, Double(0.1)],
            &[CaseTensor::of(ScalarType::Half, &[2], &[-3.0, 0.099975586])],
        ),
        Case::exact(
            "crossed bounds give the upper one",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 9.0])), Int(3), Int(2)],
            &[CaseTensor::float(&[2], &[2.0, 2.0])],
        ),
        Case::exact(
            "a fraction turns integers into floats",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 5.0])), Double(1.5), CaseArgument::None],
            &[CaseTensor::float(&[2], &[1.5, 5.0])],
        ),
        Case::exact(
            "a bound that is not a number wins",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Double(f64::NAN), Int(2)],
            &[CaseTensor::float(&[1], &[f64::NAN])],
        ),
        Case::exact(
            "bounds beyond the range of the type",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[2], &[1.0, 200.0])), Int(-1), Int(300)],
            &[CaseTensor::of(ScalarType::Byte, &[2], &[1.0, 200.0])],
        ),
        Case::refused(
            "a bound that no element can meet",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[1], &[1.0])), Int(-5), Int(-1)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "no bound",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), CaseArgument::None, CaseArgument::None],
            Error::InvalidArgument,
        ),
        Case::refused(
            "booleans with boolean bounds",
            &[Tensor(CaseTensor::bool(&[1], &[1.0])), Bool(false), Bool(true)],
            Error::InvalidType,
        ),
    ],
};

/// `torch.clamp` with tensor bounds, either of which may be absent.
#[cfg(feature = "catalogue")]
pub const CLAMP_TENSOR: Operator = Operator {
    schema: "aten::clamp.Tensor_out(Tensor self, Tensor? min=None, Tensor? max=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::clamp.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::ALL,
    infer: tensor_rule,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "both bounds; what is not a number wins",
            &[
                Tensor(CaseTensor::float(&[6], &[1.0, 5.0, f64::NAN, 3.0, 3.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[2.0, 2.0, 2.0, f64::NAN, 4.0, 1.0])),
                Tensor(CaseTensor::float(&[6], &[3.0, 3.0, 3.0, 3.0, 1.0, f64::NAN])),
            ],
            &[CaseTensor::float(&[6], &[2.0, 3.0, f64::NAN, f64::NAN, 1.0, f64::NAN])],
        ),
        Case::exact(
            "all broadcast",
            &[
                Tensor(CaseTensor::long(&[2], &[1.0, 5.0])),
                Tensor(CaseTensor::long(&[2, 1], &[2.0, 3.0])),
                Tensor(CaseTensor::long(&[2, 1], &[3.0, 6.0])),
            ],
            &[CaseTensor::long(&[2, 2], &[2.0, 3.0, 3.0, 5.0])],
        ),
        Case::exact(
            "a lower bound only, which decides the type",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 5.0])), Tensor(CaseTensor::float(&[], &[2.5])), CaseArgument::None],
            &[CaseTensor::float(&[2], &[2.5, 5.0])],
        ),
        Case::exact(
            "an upper bound only",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[1.5, 5.0])),
                CaseArgument::None,
                Tensor(CaseTensor::of(ScalarType::Int, &[2], &[2.0, 2.0])),
            ],
            &[CaseTensor::of(ScalarType::Half, &[2], &[1.5, 2.0])],
        ),
        Case::exact(
            "a scalar of a higher precision does not count",
            &[
                Tensor(CaseTensor::float(&[2], &[1.0, 2.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[], &[1.5])),
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[1.75, 1.75])),
            ],
            &[CaseTensor::float(&[2], &[1.5, 1.75])],
        ),
        Case::refused(
            "no bound",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), CaseArgument::None, CaseArgument::None],
            Error::InvalidArgument,
        ),
        Case::refused(
            "booleans",
            &[
                Tensor(CaseTensor::bool(&[1], &[1.0])),
                Tensor(CaseTensor::bool(&[1], &[0.0])),
                Tensor(CaseTensor::bool(&[1], &[1.0])),
            ],
            Error::InvalidType,
        ),
    ],
};

fn rule(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, low, high) = (args.tensor(0)?, args.optional_scalar(1)?, args.optional_scalar(2)?);
    Ok(Meta { scalar_type: promote(input.scalar_type(), low, high)?, shape: input.shape() })
}

fn promote(scalar_type: ScalarType, low: Option<Scalar>, high: Option<Scalar>) -> Result<ScalarType> {
    if low.is_none() && high.is_none() {
        return Err(Error::InvalidArgument);
    }
    Ok([low, high].into_iter().flatten().fold(scalar_type, |scalar_type, bound| bound.promote(scalar_type)))
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(3)?);
    let (low, high) = (args.optional_scalar(1)?, args.optional_scalar(2)?);
    dispatch!(D, promote(input.scalar_type(), low, high)?, numbers, T => {
        let bounds = bounds::<T>(low, high)?;
        unary::convert::<T, T, D>(&input, &out, |element| bound(element, bounds))
    })
}

fn tensor_rule(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, low, high) = (args.tensor(0)?, args.optional_tensor(1)?, args.optional_tensor(2)?);
    let bounds = [&low, &high].map(|bound| bound.as_ref().unwrap_or(&input));
    if low.is_none() && high.is_none() {
        return Err(Error::InvalidArgument);
    }
    let shape = input.shape().broadcast(&bounds[0].shape())?.broadcast(&bounds[1].shape())?;
    Ok(Meta { scalar_type: promote_all(&[&input, bounds[0], bounds[1]]), shape })
}

/// The portable kernel of tensors as bounds for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let Meta { scalar_type, shape } = tensor_rule(args, 0)?;
    args.tensor(3)?.resize(&shape)?;
    dispatch!(D, scalar_type, numbers, T => between::<T, D>(args, &shape))
}

fn between<T: Number, const D: u32>(args: &Args<'_, '_>, shape: &Shape) -> Result<()> {
    let (input, low, high, out) =
        (args.tensor(0)?, args.optional_tensor(1)?, args.optional_tensor(2)?, args.tensor(3)?);
    let bounds = [&low, &high].map(|bound| bound.as_ref().unwrap_or(&input));
    reading::<T, D>(&input, &mut |element| {
        reading_bound::<T, D>(low.as_ref(), T::LOWEST, &mut |low| {
            reading_bound::<T, D>(high.as_ref(), T::HIGHEST, &mut |high| {
                writing::<T, D>(&out, &mut |store| {
                    for [at, low_at, high_at, out_at] in Walk::new(shape, [&input, bounds[0], bounds[1], &out])? {
                        store(out_at, bound(element(at), [low(low_at), high(high_at)]));
                    }
                    Ok(())
                })
            })
        })
    })
}

/// As [`reading`]; every element of an absent bound is the end of the range.
fn reading_bound<T: Number, const D: u32>(
    bound: Option<&et_core::Tensor<'_>>,
    end: T,
    body: &mut Reader<'_, T>,
) -> Result<()> {
    match bound {
        Some(bound) => reading::<T, D>(bound, body),
        None => body(&|_| end),
    }
}

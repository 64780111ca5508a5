//! `aten::view_as_real_copy`: the real and the imaginary part of each element along a new innermost dimension.

use et_core::{Complex, Part};

use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.view_as_real`.
#[cfg(feature = "catalogue")]
pub const VIEW_AS_REAL_COPY: Operator = Operator {
    schema: "aten::view_as_real_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::view_as_real_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::COMPLEX,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "a row",
            &[Tensor(CaseTensor::of(ScalarType::ComplexFloat, &[1, 2], &[1.0, 2.0, 3.0, -4.0]))],
            &[CaseTensor::float(&[1, 2, 2], &[1.0, 2.0, 3.0, -4.0])],
        ),
        Case::exact(
            "a number in double precision",
            &[Tensor(CaseTensor::of(ScalarType::ComplexDouble, &[], &[0.5, -0.25]))],
            &[CaseTensor::of(ScalarType::Double, &[2], &[0.5, -0.25])],
        ),
        Case::refused("a real number", &[Tensor(CaseTensor::float(&[], &[1.0]))], Error::InvalidType),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let input = args.tensor(0)?;
    let mut shape = input.shape();
    shape.push(2)?;
    match input.scalar_type() {
        ScalarType::ComplexFloat => Ok(Meta { scalar_type: ScalarType::Float, shape }),
        ScalarType::ComplexDouble => Ok(Meta { scalar_type: ScalarType::Double, shape }),
        _ => Err(Error::InvalidType),
    }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, input.scalar_type(), complex, P => split::<P>(&input, &out))
}

fn split<P: Part>(input: &et_core::Tensor<'_>, out: &et_core::Tensor<'_>) -> Result<()> {
    let (from, to, step) = (input.input::<Complex<P>>()?, out.output::<P>()?, out.strides()[input.rank()]);
    for [from_at, to_at] in Walk::over(&input.shape(), [Place::of(input), Place::of(out)])? {
        let element = from.get(from_at);
        to.set(to_at, element.real);
        to.set(to_at + step, element.imaginary);
    }
    Ok(())
}

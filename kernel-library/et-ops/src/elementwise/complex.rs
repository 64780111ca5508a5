//! `aten::complex`: complex numbers from real and imaginary parts.

use et_core::{Complex, Part};

use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.complex`.
#[cfg(feature = "catalogue")]
pub const COMPLEX: Operator = Operator {
    schema: "aten::complex.out(Tensor real, Tensor imag, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::complex",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "a real part that broadcasts",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Tensor(CaseTensor::float(&[2], &[2.0, -3.0]))],
            &[CaseTensor::of(ScalarType::ComplexFloat, &[2], &[1.0, 2.0, 1.0, -3.0])],
        ),
        Case::exact(
            "double precision",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[], &[0.5])),
                Tensor(CaseTensor::of(ScalarType::Double, &[], &[f64::INFINITY])),
            ],
            &[CaseTensor::of(ScalarType::ComplexDouble, &[], &[0.5, f64::INFINITY])],
        ),
        Case::refused(
            "parts of different types",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Tensor(CaseTensor::of(ScalarType::Double, &[1], &[2.0]))],
            Error::InvalidType,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (real, imaginary) = (args.tensor(0)?, args.tensor(1)?);
    let scalar_type = match (real.scalar_type(), imaginary.scalar_type()) {
        (ScalarType::Float, ScalarType::Float) => ScalarType::ComplexFloat,
        (ScalarType::Double, ScalarType::Double) => ScalarType::ComplexDouble,
        _ => return Err(Error::InvalidType),
    };
    Ok(Meta { scalar_type, shape: real.shape().broadcast(&imaginary.shape())? })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    dispatch!(D, args.tensor(0)?.scalar_type(), precise, P => join::<P>(args))
}

fn join<P: Part>(args: &Args<'_, '_>) -> Result<()> {
    let [real, imaginary, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    let shape = infer(args, 0)?.shape;
    out.resize(&shape)?;
    let (first, second, to) = (real.input::<P>()?, imaginary.input::<P>()?, out.output::<Complex<P>>()?);
    Walk::new(&shape, [&real, &imaginary, &out])?
        .for_each(|[first_at, second_at, at]| to.set(at, Complex::new(first.get(first_at), second.get(second_at))));
    Ok(())
}

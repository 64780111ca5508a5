//! `aten::var`: variances along some or all dimensions, squares summed around the mean in a second pass.

use et_core::Element;

use crate::family::divide::Divide;
use crate::family::opmath::Opmath;
use crate::family::reduce::Folded;
use crate::family::transfer;
use crate::prelude::*;

/// `torch.var`; the divisor is the number of elements less `correction`, which is 1 unless given.
pub const VAR: Operator = Operator {
    schema: "aten::var.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::var.correction",
    path: kernel_path!(correction_out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: correction_out::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 6.0, 8.0])),
                Ints(&[1]),
                CaseArgument::None,
                Bool(true),
            ],
            &[CaseTensor::float(&[2, 1], &[1.0, 4.0])],
        ),
        Case::exact(
            "of the whole population in double precision",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 2], &[1.0, 3.0, 1.0, 3.0])),
                CaseArgument::None,
                Int(0),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::Double, &[], &[1.0])],
        ),
        Case::exact(
            "of a single element",
            &[Tensor(CaseTensor::float(&[1], &[2.0])), Ints(&[0]), Int(1), Bool(false)],
            &[CaseTensor::float(&[], &[f64::NAN])],
        ),
        Case::refused(
            "integers",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Ints(&[0]), Int(1), Bool(false)],
            Error::InvalidType,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    transfer::reshaped(args, Folded::argument(args, 1)?.shape(&args.tensor(0)?.shape(), args.bool(3)?)?)
}

/// The portable kernel for the types in `D`.
pub fn correction_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(4)?;
    out.resize(&infer(args, 0)?.shape)?;
    dispatch!(D, out.scalar_type(), floats, T => variances::<T>(args, &out))
}

fn variances<T: Opmath>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()> {
    let (input, folded, to) = (args.tensor(0)?, Folded::argument(args, 1)?, out.output::<T>()?);
    let from = input.input::<T>()?;
    let count = T::Math::from_i64(folded.count(&input.shape())? as i64);
    let correction = args.optional_scalar(2)?.map_or(T::Math::ONE, |correction| correction.cast());
    let divisor = count.minus(correction);
    let divisor = if divisor < T::Math::ZERO { T::Math::ZERO } else { divisor };
    folded.for_each(&input, [out], |lane, [at]| {
        let elements = lane.map(|offset| from.get(offset).raise());
        let mean = elements.clone().fold(T::Math::ZERO, T::Math::plus).divided(count);
        let squares = elements.map(|element| element.minus(mean)).map(|distance| distance.times(distance));
        to.set(at, T::lower(squares.fold(T::Math::ZERO, T::Math::plus).divided(divisor)));
        Ok(())
    })
}

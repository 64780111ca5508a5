//! `aten::prod`: the product of all elements, or products along a dimension. Integers and booleans multiply as `int64`.

use crate::family::convert::reading;
use crate::family::reduce::Folded;
use crate::prelude::*;

/// `torch.prod` along a dimension.
#[cfg(feature = "catalogue")]
pub const PROD_DIM: Operator = Operator {
    schema: "aten::prod.int_out(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> \
             Tensor(a!)",
    functional: "aten::prod.dim_int",
    path: kernel_path!(int_out),
    dtypes: Dtypes::ALL,
    infer: infer_dim,
    kernel: int_out::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, -5.0, f64::NAN])),
                Int(-1),
                Bool(true),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2, 1], &[6.0, f64::NAN])],
        ),
        Case::exact(
            "columns of integers",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 2], &[1.0, 2.0, 3.0, 4.0])),
                Int(0),
                Bool(false),
                CaseArgument::None,
            ],
            &[CaseTensor::long(&[2], &[3.0, 8.0])],
        ),
        Case::exact(
            "as another type, converted first",
            &[
                Tensor(CaseTensor::float(&[1, 2], &[2.5, 2.5])),
                Int(1),
                Bool(false),
                CaseArgument::Type(ScalarType::Int),
            ],
            &[CaseTensor::of(ScalarType::Int, &[1], &[4.0])],
        ),
        Case::exact(
            "of nothing",
            &[Tensor(CaseTensor::float(&[0, 2], &[])), Int(0), Bool(false), CaseArgument::None],
            &[CaseTensor::float(&[2], &[1.0, 1.0])],
        ),
        Case::exact(
            "of a scalar",
            &[Tensor(CaseTensor::float(&[], &[3.0])), Int(0), Bool(false), CaseArgument::None],
            &[CaseTensor::float(&[], &[3.0])],
        ),
        Case::refused(
            "beyond the end",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Int(1), Bool(false), CaseArgument::None],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.prod` of a whole tensor.
#[cfg(feature = "catalogue")]
pub const PROD: Operator = Operator {
    schema: "aten::prod.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::prod",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: infer_all,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.5, 2.0, -4.0, 0.5])), CaseArgument::None],
            &[CaseTensor::float(&[], &[-6.0])],
        ),
        Case::exact(
            "booleans",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 1.0])), CaseArgument::None],
            &[CaseTensor::long(&[], &[1.0])],
        ),
        Case::exact(
            "integers wrap around",
            &[Tensor(CaseTensor::long(&[3], &[4.611686018427388e+18, 4.0, 3.0])), CaseArgument::None],
            &[CaseTensor::long(&[], &[0.0])],
        ),
        Case::exact(
            "halves are rounded at each step",
            &[Tensor(CaseTensor::of(ScalarType::Half, &[3], &[60000.0, 2.0, 0.5])), CaseArgument::None],
            &[CaseTensor::of(ScalarType::Half, &[], &[f64::INFINITY])],
        ),
        Case::exact(
            "as another type",
            &[Tensor(CaseTensor::long(&[2], &[2.0, 3.0])), CaseArgument::Type(ScalarType::Double)],
            &[CaseTensor::of(ScalarType::Double, &[], &[6.0])],
        ),
        Case::exact(
            "of nothing",
            &[Tensor(CaseTensor::float(&[0], &[])), CaseArgument::None],
            &[CaseTensor::float(&[], &[1.0])],
        ),
    ],
};

fn infer_dim(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, folded) = (args.tensor(0)?, dimension(args)?);
    Ok(Meta { scalar_type: product_type(args, 3)?, shape: folded.shape(&input.shape(), args.bool(2)?)? })
}

fn infer_all(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    Ok(Meta { scalar_type: product_type(args, 1)?, shape: Shape::SCALAR })
}

/// The dtype that argument `position` asks for; by default `int64` for integers and booleans.
fn product_type(args: &Args<'_, '_>, position: usize) -> Result<ScalarType> {
    let own = args.tensor(0)?.scalar_type();
    let default = if own.is_float() { own } else { ScalarType::Long };
    Ok(args.optional_scalar_type(position)?.unwrap_or(default))
}

fn dimension(args: &Args<'_, '_>) -> Result<Folded> {
    Folded::of(&args.tensor(0)?.shape(), &[args.int(1)?])
}

/// The portable kernel of `int_out` for the types in `D`.
pub fn int_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(4)?;
    out.settle(|| Ok(infer_dim(args, 0)?.shape))?;
    multiply::<D>(&args.tensor(0)?, dimension(args)?, &out)
}

/// The portable kernel of `out` for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(2)?;
    out.resize(&Shape::SCALAR)?;
    multiply::<D>(&args.tensor(0)?, Folded::ALL, &out)
}

fn multiply<const D: u32>(input: &et_core::Tensor<'_>, folded: Folded, out: &et_core::Tensor<'_>) -> Result<()> {
    dispatch!(D, out.scalar_type(), numbers, T => {
        let to = out.output::<T>()?;
        reading::<T, D>(input, &mut |load| {
            folded.for_each(input, [out], |lane, [at]| {
                to.set(at, lane.fold(T::ONE, |product, offset| product.times(load(offset))));
                Ok(())
            })
        })
    })
}

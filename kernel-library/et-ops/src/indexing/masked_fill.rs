//! `aten::masked_fill`: a number where the mask is true, else the element of the tensor; both broadcast.

use et_core::{Element, Scalar};

use crate::family::convert::reading;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.masked_fill` with a number, which the type of the tensor has to hold.
#[cfg(feature = "catalogue")]
pub const MASKED_FILL_SCALAR: Operator = Operator {
    schema: "aten::masked_fill.Scalar_out(Tensor self, Tensor mask, Scalar value, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::masked_fill.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "all broadcast",
            &[
                Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])),
                Double(f64::NEG_INFINITY),
            ],
            &[CaseTensor::float(&[2, 2], &[f64::NEG_INFINITY, 1.0, f64::NEG_INFINITY, 2.0])],
        ),
        Case::exact(
            "a fraction is cut for integers",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Double(2.9)],
            &[CaseTensor::long(&[2], &[2.0, 2.0])],
        ),
        Case::exact(
            "booleans",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Tensor(CaseTensor::bool(&[2], &[0.0, 1.0])), Int(2)],
            &[CaseTensor::bool(&[2], &[1.0, 1.0])],
        ),
        Case::exact(
            "a negative number as a byte",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[2], &[1.0, 2.0])),
                Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])),
                Int(-1),
            ],
            &[CaseTensor::of(ScalarType::Byte, &[2], &[255.0, 2.0])],
        ),
        Case::exact(
            "infinite halves",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[1.0, 2.0])),
                Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])),
                Double(f64::NEG_INFINITY),
            ],
            &[CaseTensor::of(ScalarType::Half, &[2], &[f64::NEG_INFINITY, 2.0])],
        ),
        Case::refused(
            "beyond the greatest half",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[1], &[1.0])),
                Tensor(CaseTensor::bool(&[1], &[1.0])),
                Double(1000000000.0),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "beyond the greatest byte",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[1], &[1.0])), Tensor(CaseTensor::bool(&[1], &[1.0])), Int(256)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a mask of bytes",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Tensor(CaseTensor::of(ScalarType::Byte, &[1], &[1.0])), Int(0)],
            Error::InvalidType,
        ),
    ],
};

/// `torch.masked_fill` with a tensor of rank 0.
#[cfg(feature = "catalogue")]
pub const MASKED_FILL_TENSOR: Operator = Operator {
    schema: "aten::masked_fill.Tensor_out(Tensor self, Tensor mask, Tensor value, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::masked_fill.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "all broadcast",
            &[
                Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])),
                Tensor(CaseTensor::float(&[], &[f64::NEG_INFINITY])),
            ],
            &[CaseTensor::float(&[2, 2], &[f64::NEG_INFINITY, 1.0, f64::NEG_INFINITY, 2.0])],
        ),
        Case::exact(
            "a fraction is cut for integers",
            &[
                Tensor(CaseTensor::long(&[2], &[1.0, 2.0])),
                Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])),
                Tensor(CaseTensor::float(&[], &[2.9])),
            ],
            &[CaseTensor::long(&[2], &[2.0, 2.0])],
        ),
        Case::refused(
            "a value with dimensions",
            &[
                Tensor(CaseTensor::float(&[1], &[1.0])),
                Tensor(CaseTensor::bool(&[1], &[1.0])),
                Tensor(CaseTensor::float(&[1], &[1.0])),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, mask) = (args.tensor(0)?, args.tensor(1)?);
    if mask.scalar_type() != ScalarType::Bool {
        return Err(Error::InvalidType);
    }
    Ok(Meta { scalar_type: input.scalar_type(), shape: input.shape().broadcast(&mask.shape())? })
}

/// The portable kernel of the scalar overload for the dtypes in `D`; the mask is boolean regardless of `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let value = args.scalar(2)?;
    dispatch!(D, args.tensor(0)?.scalar_type(), all, T => select::<T>(args, converted(value)?))
}

/// The portable kernel of the overload with a rank-0 tensor, for the dtypes in `D`; the mask is boolean regardless of
/// `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let value = args.tensor(2)?;
    if value.rank() != 0 {
        return Err(Error::InvalidArgument);
    }
    dispatch!(D, args.tensor(0)?.scalar_type(), all, T => {
        reading::<T, D>(&value, &mut |load| select::<T>(args, load(0)))
    })
}

/// The number as an element. `uint8` accepts every number of magnitude below 256, negative numbers included.
fn converted<T: Element>(value: Scalar) -> Result<T> {
    let (exact, element) = (value.to_f64(), value.cast::<T>());
    let fits = match T::TYPE {
        ScalarType::Bool => true,
        ScalarType::Byte => exact.abs() < 256.0,
        integer if integer.is_integer() => T::from_f64(exact).to_i64() == value.to_i64() && !exact.is_nan(),
        _ => element.to_f64().is_finite() || !exact.is_finite(),
    };
    if fits { Ok(element) } else { Err(Error::InvalidArgument) }
}

fn select<T: Element>(args: &Args<'_, '_>, value: T) -> Result<()> {
    let (input, mask, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(3)?);
    let shape = infer(args, 0)?.shape;
    out.resize(&shape)?;
    let (from, holds, to) = (input.input::<T>()?, mask.input::<bool>()?, out.output::<T>()?);
    for [at, mask_at, out_at] in Walk::new(&shape, [&input, &mask, &out])? {
        to.set(out_at, if holds.get(mask_at) { value } else { from.get(at) });
    }
    Ok(())
}

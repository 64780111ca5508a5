//! `aten`: numbers read from a tensor: a size, the number of elements, the only element.

use et_core::{Element, ScalarType};

use super::number::prelude::*;
use crate::case::CaseArgument::Tensor;
use crate::case::CaseTensor;
use crate::operator::{ALL, dispatch};

/// The size of a dimension, which may be counted from the end.
#[cfg(feature = "catalogue")]
pub const SYM_SIZE: Primitive = Primitive {
    schema: "aten::sym_size.int(Tensor self, int dim) -> SymInt",
    exported: "aten::sym_size.int",
    path: kernel_path!(sym_size),
    result: PrimitiveResult::Int,
    kernel: sym_size,
    cases: &[
        Case::gives(&[Tensor(CaseTensor::float(&[2, 3], &[0.0; 6])), Int(0)], Int(2)),
        Case::gives(&[Tensor(CaseTensor::float(&[2, 3], &[0.0; 6])), Int(-1)], Int(3)),
        Case::refused(&[Tensor(CaseTensor::float(&[2, 3], &[0.0; 6])), Int(2)], Error::InvalidArgument),
        Case::refused(&[Tensor(CaseTensor::float(&[], &[0.0])), Int(0)], Error::InvalidArgument),
    ],
};

/// The number of elements.
#[cfg(feature = "catalogue")]
pub const SYM_NUMEL: Primitive = Primitive {
    schema: "aten::sym_numel(Tensor self) -> SymInt",
    exported: "aten::sym_numel",
    path: kernel_path!(sym_numel),
    result: PrimitiveResult::Int,
    kernel: sym_numel,
    cases: &[
        Case::gives(&[Tensor(CaseTensor::float(&[2, 3], &[0.0; 6]))], Int(6)),
        Case::gives(&[Tensor(CaseTensor::long(&[], &[0.0]))], Int(1)),
    ],
};

/// The value of a tensor with a single element.
#[cfg(feature = "catalogue")]
pub const LOCAL_SCALAR_DENSE: Primitive = Primitive {
    schema: "aten::_local_scalar_dense(Tensor self) -> Scalar",
    exported: "aten::_local_scalar_dense",
    path: kernel_path!(local_scalar_dense),
    result: PrimitiveResult::Element,
    kernel: local_scalar_dense,
    cases: &[
        Case::gives(&[Tensor(CaseTensor::float(&[1], &[0.5]))], Double(0.5)),
        Case::gives(&[Tensor(CaseTensor::of(ScalarType::Half, &[], &[-1.5]))], Double(-1.5)),
        Case::gives(&[Tensor(CaseTensor::of(ScalarType::Byte, &[1, 1], &[200.0]))], Int(200)),
        Case::gives(&[Tensor(CaseTensor::bool(&[], &[1.0]))], Bool(true)),
        Case::refused(&[Tensor(CaseTensor::long(&[2], &[1.0, 2.0]))], Error::InvalidArgument),
    ],
};

/// The kernel of [`SYM_SIZE`].
pub fn sym_size(args: &Args<'_, '_>) -> Result<()> {
    let (shape, dim) = (args.tensor(0)?.shape(), args.int(1)?);
    let axis = shape.axis(dim)?;
    let size = shape.sizes().get(axis).ok_or(Error::InvalidArgument)?;
    args.set(2, Value::Int(i64::from(*size)))
}

/// The kernel of [`SYM_NUMEL`].
pub fn sym_numel(args: &Args<'_, '_>) -> Result<()> {
    args.set(1, Value::Int(args.tensor(0)?.numel() as i64))
}

/// The kernel of [`LOCAL_SCALAR_DENSE`].
pub fn local_scalar_dense(args: &Args<'_, '_>) -> Result<()> {
    let tensor = args.tensor(0)?;
    if tensor.numel() != 1 {
        return Err(Error::InvalidArgument);
    }
    dispatch!(ALL, tensor.scalar_type(), all, T => args.set(1, as_value(tensor.input::<T>()?.get(0))))
}

fn as_value<'a, T: Element>(element: T) -> Value<'a> {
    match T::TYPE {
        ScalarType::Bool => Value::Bool(element.to_i64() != 0),
        integer if integer.is_integer() => Value::Int(element.to_i64()),
        _ => Value::Double(element.to_f64()),
    }
}

//! `aten::bucketize`: between which two of some ascending boundaries each element lies.

use et_core::Element;

use crate::family::convert::reading;
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::family::{binary, unary};
use crate::prelude::*;

/// `torch.bucketize`.
#[cfg(feature = "catalogue")]
pub const BUCKETIZE_TENSOR: Operator = Operator {
    schema: "aten::bucketize.Tensor_out(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::bucketize.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "boundaries belong to the lower bucket",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[0.0, 1.0, 1.5, 3.0, 4.0, f64::NAN])),
                Tensor(CaseTensor::float(&[3], &[1.0, 2.0, 3.0])),
                Bool(false),
                Bool(false),
            ],
            &[CaseTensor::long(&[2, 3], &[0.0, 0.0, 1.0, 2.0, 3.0, 3.0])],
        ),
        Case::exact(
            "boundaries belong to the upper bucket, narrow indices, mixed types",
            &[
                Tensor(CaseTensor::long(&[4], &[0.0, 1.0, 2.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[3], &[1.0, 1.0, 2.5])),
                Bool(true),
                Bool(true),
            ],
            &[CaseTensor::of(ScalarType::Int, &[4], &[0.0, 2.0, 2.0, 3.0])],
        ),
        Case::refused(
            "boundaries in rows",
            &[
                Tensor(CaseTensor::float(&[1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 1], &[1.0])),
                Bool(false),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    if args.tensor(1)?.rank() != 1 {
        return Err(Error::InvalidArgument);
    }
    let scalar_type = if args.bool(2)? { ScalarType::Int } else { ScalarType::Long };
    Ok(Meta { scalar_type, ..unary::like_first(args, 0)? })
}

/// The portable kernel for inputs of the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, boundaries, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(4)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    let (right, count) = (args.bool(3)?, boundaries.numel());
    dispatch!(D, binary::promote(&input, &boundaries), numbers, T => {
        reading::<T, D>(&boundaries, &mut |boundary| {
            reading::<T, D>(&input, &mut |load| store(&input, &out, |at| bucket(load(at), count, right, boundary)))
        })
    })
}

fn store(input: &et_core::Tensor<'_>, out: &et_core::Tensor<'_>, bucket: impl Fn(usize) -> usize) -> Result<()> {
    let places = [Place::of(input), Place::of(out)];
    let walk = Walk::over(&input.shape(), places)?;
    if out.scalar_type() == ScalarType::Int {
        let to = out.output::<i32>()?;
        walk.for_each(|[from, at]| to.set(at, bucket(from) as i32));
    } else {
        let to = out.output::<i64>()?;
        walk.for_each(|[from, at]| to.set(at, bucket(from) as i64));
    }
    Ok(())
}

/// The number of boundaries before the element. NaN compares with no boundary and lies behind the last boundary.
fn bucket<T: Element>(element: T, count: usize, right: bool, boundary: &dyn Fn(usize) -> T) -> usize {
    let (mut start, mut end) = (0, count);
    while start < end {
        let middle = start + (end - start) / 2;
        let is_behind = if right { boundary(middle) > element } else { boundary(middle) >= element };
        if is_behind { end = middle } else { start = middle + 1 }
    }
    start
}

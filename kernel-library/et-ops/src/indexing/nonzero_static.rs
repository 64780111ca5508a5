//! `aten::nonzero_static`: the positions of the first elements that are not 0, as many rows as the caller wants.

use et_core::Element;

use crate::indexing::nonzero::{found, write_row};
use crate::prelude::*;

/// `torch.nonzero_static`.
#[cfg(feature = "catalogue")]
pub const NONZERO_STATIC: Operator = Operator {
    schema: "aten::nonzero_static.out(Tensor self, *, SymInt size, int fill_value=-1, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::nonzero_static",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "fewer than wanted",
            &[Tensor(CaseTensor::float(&[2, 2], &[0.0, 2.0, f64::NAN, 0.0])), Int(3), Int(-1)],
            &[CaseTensor::long(&[3, 2], &[0.0, 1.0, 1.0, 0.0, -1.0, -1.0])],
        ),
        Case::exact(
            "more than wanted",
            &[Tensor(CaseTensor::bool(&[3], &[1.0, 1.0, 1.0])), Int(2), Int(7)],
            &[CaseTensor::long(&[2, 1], &[0.0, 1.0])],
        ),
        Case::refused(
            "a negative count",
            &[Tensor(CaseTensor::bool(&[1], &[1.0])), Int(-1), Int(0)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let count = i32::try_from(args.int(1)?).ok().filter(|count| *count >= 0).ok_or(Error::InvalidArgument)?;
    let shape = Shape::new(&[count, args.tensor(0)?.shape().rank() as i32])?;
    Ok(Meta { scalar_type: ScalarType::Long, shape })
}

/// The portable kernel for input dtypes `D`; positions are `int64` regardless of `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(3)?);
    out.resize(&infer(args, 0)?.shape)?;
    let (count, filler) = (args.int(1)? as usize, args.int(2)?);
    dispatch!(D, input.scalar_type(), all, T => positions::<T>(&input, &out, count, filler))
}

fn positions<T: Element>(
    input: &et_core::Tensor<'_>,
    out: &et_core::Tensor<'_>,
    count: usize,
    filler: i64,
) -> Result<()> {
    let (shape, to) = (input.shape(), out.output::<i64>()?);
    (0..to.len()).for_each(|index| to.set(index, filler));
    for (row, index) in found::<T>(input, &shape)?.take(count).enumerate() {
        write_row(&to, out.strides(), (row, index), &shape);
    }
    Ok(())
}

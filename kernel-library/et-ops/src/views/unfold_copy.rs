//! `aten::unfold_copy`: sliding windows along a dimension; the elements of a window become the last dimension.

use crate::family::place::Place;
use crate::family::transfer;
use crate::prelude::*;

/// `torch.unfold_copy`.
#[cfg(feature = "catalogue")]
pub const UNFOLD_COPY: Operator = Operator {
    schema: "aten::unfold_copy.out(Tensor self, int dimension, int size, int step, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::unfold_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "windows that overlap",
            &[Tensor(CaseTensor::float(&[5], &[1.0, 2.0, 3.0, 4.0, 5.0])), Int(0), Int(3), Int(1)],
            &[CaseTensor::float(&[3, 3], &[1.0, 2.0, 3.0, 2.0, 3.0, 4.0, 3.0, 4.0, 5.0])],
        ),
        Case::exact(
            "windows of columns",
            &[Tensor(CaseTensor::long(&[2, 4], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])), Int(-1), Int(2), Int(2)],
            &[CaseTensor::long(&[2, 2, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])],
        ),
        Case::exact(
            "windows of rows",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(0), Int(1), Int(3)],
            &[CaseTensor::float(&[1, 3, 1], &[1.0, 2.0, 3.0])],
        ),
        Case::exact(
            "a scalar",
            &[Tensor(CaseTensor::float(&[], &[2.0])), Int(0), Int(1), Int(1)],
            &[CaseTensor::float(&[1], &[2.0])],
        ),
        Case::refused(
            "a window larger than the dimension",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(0), Int(3), Int(1)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "no step",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(0), Int(1), Int(0)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (mut shape, size, step) = (args.tensor(0)?.shape(), args.int(2)?, args.int(3)?);
    let axis = shape.axis(args.int(1)?)?;
    let extent = shape.around(axis)[1] as i64;
    if !(0..=extent).contains(&size) || step <= 0 {
        return Err(Error::InvalidArgument);
    }
    if let Some(windows) = shape.sizes_mut().get_mut(axis) {
        *windows = ((extent - size) / step + 1) as i32;
    }
    shape.push(size as i32)?;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, shape) = (args.tensor(0)?, args.tensor(4)?, infer(args, 0)?.shape);
    out.resize(&shape)?;
    let axis = input.shape().axis(args.int(1)?)?;
    let mut from = Place::of(&input);
    from.strides[input.rank()] = from.strides[axis];
    if input.rank() > 0 {
        from = from.stepped(axis, args.int(3)?);
    }
    transfer::region::<D>(&shape, (&input, from), (&out, Place::of(&out)))
}

//! `etbuild::advance`: the last elements of a stream.

use crate::family::unary;
use crate::prelude::*;

/// The last elements of `kept` and, behind these, `fresh`: as many as `kept` has, in its shape, row by row.
#[cfg(feature = "catalogue")]
pub const ADVANCE: Operator = Operator {
    schema: "etbuild::advance.out(Tensor kept, Tensor fresh, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "etbuild::advance",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "two of five samples are new",
            &[
                Tensor(CaseTensor::of(ScalarType::Short, &[5], &[1.0, 2.0, 3.0, 4.0, 5.0])),
                Tensor(CaseTensor::of(ScalarType::Short, &[2], &[-6.0, 700.0])),
            ],
            &[CaseTensor::of(ScalarType::Short, &[5], &[3.0, 4.0, 5.0, -6.0, 700.0])],
        ),
        Case::exact(
            "all are new",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Tensor(CaseTensor::float(&[2], &[0.5, -3.0]))],
            &[CaseTensor::float(&[2], &[0.5, -3.0])],
        ),
        Case::refused(
            "more than there is room for",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Tensor(CaseTensor::float(&[2], &[0.5, -3.0]))],
            Error::InvalidArgument,
        ),
        Case::refused(
            "another type",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Tensor(CaseTensor::long(&[1], &[1.0]))],
            Error::InvalidType,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let (kept, fresh) = (args.tensor(0)?, args.tensor(1)?);
    if kept.scalar_type() != fresh.scalar_type() {
        return Err(Error::InvalidType);
    }
    let is_plain = kept.is_contiguous() && fresh.is_contiguous();
    if is_plain && fresh.numel() <= kept.numel() { unary::like_first(args, index) } else { Err(Error::InvalidArgument) }
}

/// The portable kernel; elements are bytes to it.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(2)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    let (kept, fresh, to) = (args.tensor(0)?.bytes()?, args.tensor(1)?.bytes()?, out.bytes_mut()?);
    let rest = kept.len().checked_sub(fresh.len()).ok_or(Error::InvalidArgument)?;
    if !out.is_contiguous() || to.len() != kept.len() {
        return Err(Error::InvalidArgument);
    }
    to.window(0, rest).copy_from(kept.window(fresh.len(), rest));
    to.window(rest, fresh.len()).copy_from(fresh);
    Ok(())
}

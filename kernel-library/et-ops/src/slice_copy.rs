//! `aten::slice_copy`: every `step`-th element of a range of one dimension. Bounds count from either end and are clamped.

use crate::family::place::Place;
use crate::family::transfer;
use crate::prelude::*;

/// `torch.slice_copy`.
pub const SLICE_COPY: Operator = Operator {
    schema: "aten::slice_copy.Tensor_out(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, \
             *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::slice_copy.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "columns from the end",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(1),
                Int(-2),
                Int(i64::MAX),
                Int(1),
            ],
            &[CaseTensor::float(&[2, 2], &[2.0, 3.0, 5.0, 6.0])],
        ),
        Case::exact(
            "every other row",
            &[Tensor(CaseTensor::long(&[5], &[0.0, 1.0, 2.0, 3.0, 4.0])), Int(0), CaseArgument::None, Int(4), Int(2)],
            &[CaseTensor::long(&[2], &[0.0, 2.0])],
        ),
        Case::exact(
            "an empty range",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Int(-1), Int(2), Int(1), Int(1)],
            &[CaseTensor::float(&[0], &[])],
        ),
        Case::refused(
            "a step back",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Int(0), Int(0), Int(2), Int(-1)],
            Error::InvalidArgument,
        ),
    ],
};

/// The dimension, where the range starts, and its step.
struct Range {
    dim: usize,
    start: i64,
    step: i64,
    count: i64,
}

fn range(args: &Args<'_, '_>) -> Result<Range> {
    let shape = args.tensor(0)?.shape();
    let (dim, step) = (shape.axis(args.int(1)?)?, args.int(4)?);
    if step <= 0 || shape.rank() == 0 {
        return Err(Error::InvalidArgument);
    }
    let size = shape.size(dim) as i64;
    let clamp = |bound: i64| (if bound < 0 { bound + size } else { bound }).clamp(0, size);
    let start = clamp(args.optional_int(2)?.unwrap_or(0));
    let end = clamp(args.optional_int(3)?.unwrap_or(size)).max(start);
    let distance = end - start;
    Ok(Range { dim, start, step, count: distance / step + i64::from(distance % step != 0) })
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (range, mut shape) = (range(args)?, args.tensor(0)?.shape());
    shape.sizes_mut()[range.dim] = range.count as i32;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, range, shape) = (args.tensor(0)?, args.tensor(5)?, range(args)?, infer(args, 0)?.shape);
    out.resize(&shape)?;
    let from = Place::of(&input).moved(range.dim, range.start).stepped(range.dim, range.step);
    transfer::region::<D>(&shape, (&input, from), (&out, Place::of(&out)))
}

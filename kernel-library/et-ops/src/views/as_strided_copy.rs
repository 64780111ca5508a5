//! `aten::as_strided_copy`: the elements at given distances in memory.

use et_core::MAX_RANK;

use crate::family::place::Place;
use crate::family::{fill, transfer};
use crate::prelude::*;

/// `torch.as_strided_copy`. Distances and offset count elements of the memory of the first tensor.
#[cfg(feature = "catalogue")]
pub const AS_STRIDED_COPY: Operator = Operator {
    schema: "aten::as_strided_copy.out(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::as_strided_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "windows that overlap",
            &[
                Tensor(CaseTensor::float(&[5], &[1.0, 2.0, 3.0, 4.0, 5.0])),
                Ints(&[3, 2]),
                Ints(&[1, 2]),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[3, 2], &[1.0, 3.0, 2.0, 4.0, 3.0, 5.0])],
        ),
        Case::exact(
            "from an offset",
            &[Tensor(CaseTensor::long(&[4], &[1.0, 2.0, 3.0, 4.0])), Ints(&[2]), Ints(&[2]), Int(1)],
            &[CaseTensor::long(&[2], &[2.0, 4.0])],
        ),
        Case::exact(
            "nothing",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Ints(&[0, 3]), Ints(&[5, 5]), CaseArgument::None],
            &[CaseTensor::float(&[0, 3], &[])],
        ),
        Case::exact(
            "a scalar",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Ints(&[]), Ints(&[]), Int(1)],
            &[CaseTensor::float(&[], &[2.0])],
        ),
        Case::refused(
            "outside the memory",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Ints(&[2]), Ints(&[2]), CaseArgument::None],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a stride back",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Ints(&[2]), Ints(&[-1]), Int(1)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "another number of strides",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Ints(&[2]), Ints(&[1, 1]), CaseArgument::None],
            Error::InvalidArgument,
        ),
    ],
};

/// Where the elements lie in the memory of the first tensor.
fn place(args: &Args<'_, '_>, shape: &Shape) -> Result<Place> {
    let (given, offset) = (args.ints(2)?, args.optional_int(3)?.unwrap_or(0));
    let (mut strides, mut last) = ([0; MAX_RANK], offset);
    for ((slot, stride), size) in strides.iter_mut().zip(given.iter()).zip(shape.sizes()) {
        *slot = usize::try_from(*stride).map_err(|_| Error::InvalidArgument)?;
        let reach = stride.checked_mul(i64::from(*size).saturating_sub(1)).and_then(|reach| last.checked_add(reach));
        last = reach.ok_or(Error::InvalidArgument)?;
    }
    let inside = shape.numel()? == 0 || last < args.tensor(0)?.numel() as i64;
    if given.len() != shape.rank() || offset < 0 || !inside {
        return Err(Error::InvalidArgument);
    }
    Ok(Place { start: offset as usize, strides })
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let shape = fill::sizes(args, 1)?;
    place(args, &shape)?;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, shape) = (args.tensor(0)?, args.tensor(4)?, infer(args, 0)?.shape);
    out.resize(&shape)?;
    transfer::region::<D>(&shape, (&input, place(args, &shape)?), (&out, Place::of(&out)))
}

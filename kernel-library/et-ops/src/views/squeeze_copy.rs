//! `aten::squeeze_copy`: without the named dimensions, where their size is 1.

use crate::family::reduce::Folded;
use crate::family::transfer;
use crate::prelude::*;

/// `torch.squeeze_copy` of a single dimension.
#[cfg(feature = "catalogue")]
pub const SQUEEZE_COPY_DIM: Operator = Operator {
    schema: "aten::squeeze_copy.dim_out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::squeeze_copy.dim",
    path: kernel_path!(dim_out),
    dtypes: Dtypes::STORED,
    infer: infer_dim,
    kernel: dim_out::<ALL>,
    cases: &[
        Case::exact(
            "a dimension of size 1",
            &[Tensor(CaseTensor::float(&[2, 1, 1], &[1.0, 2.0])), Int(-1)],
            &[CaseTensor::float(&[2, 1], &[1.0, 2.0])],
        ),
        Case::exact(
            "a larger one stays",
            &[Tensor(CaseTensor::long(&[2, 1], &[1.0, 2.0])), Int(0)],
            &[CaseTensor::long(&[2, 1], &[1.0, 2.0])],
        ),
        Case::refused("beyond the end", &[Tensor(CaseTensor::float(&[1], &[1.0])), Int(1)], Error::InvalidArgument),
    ],
};

/// `torch.squeeze_copy` of several dimensions.
#[cfg(feature = "catalogue")]
pub const SQUEEZE_COPY_DIMS: Operator = Operator {
    schema: "aten::squeeze_copy.dims_out(Tensor self, int[] dim, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::squeeze_copy.dims",
    path: kernel_path!(dims_out),
    dtypes: Dtypes::STORED,
    infer: infer_dims,
    kernel: dims_out::<ALL>,
    cases: &[
        Case::exact(
            "from either end",
            &[Tensor(CaseTensor::float(&[1, 2, 1], &[1.0, 2.0])), Ints(&[-1, 0])],
            &[CaseTensor::float(&[2], &[1.0, 2.0])],
        ),
        Case::exact(
            "no dimension",
            &[Tensor(CaseTensor::bool(&[1, 1], &[1.0])), Ints(&[])],
            &[CaseTensor::bool(&[1, 1], &[1.0])],
        ),
        Case::refused(
            "a dimension twice",
            &[Tensor(CaseTensor::float(&[1, 1], &[1.0])), Ints(&[0, -2])],
            Error::InvalidArgument,
        ),
    ],
};

fn infer_dim(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    squeezed(args, &[args.int(1)?])
}

fn infer_dims(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    squeezed(args, &args.ints(1)?)
}

fn squeezed(args: &Args<'_, '_>, dims: &[i64]) -> Result<Meta> {
    let input = args.tensor(0)?.shape();
    let named = Folded::of(&input, dims)?;
    let mut shape = Shape::SCALAR;
    let kept = input.sizes().iter().enumerate().filter(|(dim, size)| **size != 1 || !named.contains(*dim));
    kept.map(|(_, size)| *size).try_for_each(|size| shape.push(size))?;
    transfer::reshaped(args, shape)
}

/// The portable kernel of `dim_out` for the types in `D`.
pub fn dim_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    squeeze::<D>(args, infer_dim(args, 0)?)
}

/// The portable kernel of `dims_out` for the types in `D`.
pub fn dims_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    squeeze::<D>(args, infer_dims(args, 0)?)
}

fn squeeze<const D: u32>(args: &Args<'_, '_>, meta: Meta) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    out.resize(&meta.shape)?;
    transfer::in_order::<D>(&input, &out)
}

//! `aten::cat`: concatenates tensors along a dimension. An empty tensor of rank 1 is ignored.

use crate::family::place::Place;
use crate::family::transfer;
use crate::prelude::*;

/// `torch.cat`.
#[cfg(feature = "catalogue")]
pub const CAT: Operator = Operator {
    schema: "aten::cat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::cat",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "columns",
            &[
                Tensors(&[
                    CaseTensor::float(&[2, 1], &[1.0, 2.0]),
                    CaseTensor::float(&[0], &[]),
                    CaseTensor::float(&[2, 2], &[3.0, 4.0, 5.0, 6.0]),
                ]),
                Int(-1),
            ],
            &[CaseTensor::float(&[2, 3], &[1.0, 3.0, 4.0, 2.0, 5.0, 6.0])],
        ),
        Case::exact(
            "types promote",
            &[Tensors(&[CaseTensor::long(&[1], &[1.0]), CaseTensor::float(&[1], &[0.5])]), Int(0)],
            &[CaseTensor::float(&[2], &[1.0, 0.5])],
        ),
        Case::refused(
            "other sizes that differ",
            &[Tensors(&[CaseTensor::float(&[1, 1], &[1.0]), CaseTensor::float(&[1, 2], &[1.0; 2])]), Int(0)],
            Error::InvalidArgument,
        ),
        Case::refused("no tensor", &[Tensors(&[]), Int(0)], Error::InvalidArgument),
    ],
};

/// Whether a tensor is ignored.
fn is_void(tensor: &et_core::Tensor<'_>) -> bool {
    tensor.shape().sizes() == [0]
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let first = args.tensor_of(0, 0)?;
    let mut meta = Meta { scalar_type: first.scalar_type(), shape: first.shape() };
    for index in 1..args.tensors_len(0)? {
        let tensor = args.tensor_of(0, index)?;
        meta.scalar_type = meta.scalar_type.promote(tensor.scalar_type());
        meta.shape = joined(&meta.shape, &tensor.shape(), args.int(1)?)?;
    }
    meta.shape.axis(args.int(1)?)?;
    if meta.shape.rank() == 0 { Err(Error::InvalidArgument) } else { Ok(meta) }
}

fn joined(left: &Shape, right: &Shape, dim: i64) -> Result<Shape> {
    match (left.sizes(), right.sizes()) {
        ([0], _) => return Ok(*right),
        (_, [0]) => return Ok(*left),
        _ => {}
    }
    let (mut shape, axis) = (*left, left.axis(dim)?);
    let fits = |(dim, (left, right)): (usize, (&i32, &i32))| dim == axis || left == right;
    if left.rank() != right.rank() || !left.sizes().iter().zip(right.sizes()).enumerate().all(fits) {
        return Err(Error::InvalidArgument);
    }
    let size = shape.sizes_mut().get_mut(axis).ok_or(Error::InvalidArgument)?;
    *size = size.checked_add(right.sizes()[axis]).ok_or(Error::InvalidArgument)?;
    Ok(shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (out, shape) = (args.tensor(2)?, infer(args, 0)?.shape);
    out.resize(&shape)?;
    let (dim, mut to) = (shape.axis(args.int(1)?)?, Place::of(&out));
    for index in 0..args.tensors_len(0)? {
        let tensor = args.tensor_of(0, index)?;
        if !is_void(&tensor) {
            transfer::region_converted::<D>(&tensor.shape(), (&tensor, Place::of(&tensor)), (&out, to))?;
            to = to.moved(dim, tensor.shape().size(dim) as i64);
        }
    }
    Ok(())
}

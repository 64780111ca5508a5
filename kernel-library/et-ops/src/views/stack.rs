//! `aten::stack`: concatenates tensors of the same shape along a new dimension.

use crate::family::place::Place;
use crate::family::transfer;
use crate::prelude::*;

/// `torch.stack`.
#[cfg(feature = "catalogue")]
pub const STACK: Operator = Operator {
    schema: "aten::stack.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::stack",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "as columns",
            &[Tensors(&[CaseTensor::float(&[2], &[1.0, 2.0]), CaseTensor::float(&[2], &[3.0, 4.0])]), Int(-1)],
            &[CaseTensor::float(&[2, 2], &[1.0, 3.0, 2.0, 4.0])],
        ),
        Case::exact(
            "types promote",
            &[Tensors(&[CaseTensor::bool(&[], &[1.0]), CaseTensor::long(&[], &[5.0])]), Int(0)],
            &[CaseTensor::long(&[2], &[1.0, 5.0])],
        ),
        Case::refused(
            "shapes that differ",
            &[Tensors(&[CaseTensor::float(&[1], &[1.0]), CaseTensor::float(&[2], &[1.0; 2])]), Int(0)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (first, count) = (args.tensor_of(0, 0)?, args.tensors_len(0)?);
    let (mut scalar_type, own) = (first.scalar_type(), first.shape());
    for index in 1..count {
        let tensor = args.tensor_of(0, index)?;
        scalar_type = scalar_type.promote(tensor.scalar_type());
        if tensor.shape() != own {
            return Err(Error::InvalidArgument);
        }
    }
    let mut shape = own;
    shape.push(count as i32)?;
    let dim = shape.axis(args.int(1)?)?;
    shape.sizes_mut()[dim..].rotate_right(1);
    Ok(Meta { scalar_type, shape })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (out, shape) = (args.tensor(2)?, infer(args, 0)?.shape);
    out.resize(&shape)?;
    let dim = shape.axis(args.int(1)?)?;
    for index in 0..args.tensors_len(0)? {
        let tensor = args.tensor_of(0, index)?;
        let others = (0..shape.rank()).filter(|other| *other != dim);
        let to = Place::of(&out).moved(dim, index as i64).with_dims(others);
        transfer::region_converted::<D>(&tensor.shape(), (&tensor, Place::of(&tensor)), (&out, to))?;
    }
    Ok(())
}

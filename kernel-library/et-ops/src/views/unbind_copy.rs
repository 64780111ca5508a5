//! `aten::unbind_copy`: a tensor for each index of a dimension, without that dimension.

use crate::family::place::Place;
use crate::family::transfer;
use crate::prelude::*;
use crate::views::pieces;

/// `torch.unbind_copy`.
#[cfg(feature = "catalogue")]
pub const UNBIND_COPY: Operator = Operator {
    schema: "aten::unbind_copy.int_out(Tensor self, int dim=0, *, Tensor(a!)[] out) -> ()",
    functional: "aten::unbind_copy.int",
    path: kernel_path!(int_out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: int_out::<ALL>,
    cases: &[
        Case::exact(
            "columns",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 4.0])), Int(-1)],
            &[CaseTensor::float(&[2], &[1.0, 3.0]), CaseTensor::float(&[2], &[2.0, 4.0])],
        ),
        Case::exact(
            "scalars",
            &[Tensor(CaseTensor::long(&[2], &[5.0, 6.0])), Int(0)],
            &[CaseTensor::long(&[], &[5.0]), CaseTensor::long(&[], &[6.0])],
        ),
        Case::refused("a scalar", &[Tensor(CaseTensor::float(&[], &[1.0])), Int(0)], Error::InvalidArgument),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (dim, input, mut shape) = (pieces::cut_dim(args, 1)?, args.tensor(0)?.shape(), Shape::SCALAR);
    pieces::check_count(args, 2, input.size(dim))?;
    let others = input.sizes().iter().enumerate().filter(|(other, _)| *other != dim);
    others.map(|(_, size)| *size).try_for_each(|size| shape.push(size))?;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn int_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, dim, shape) = (args.tensor(0)?, pieces::cut_dim(args, 1)?, infer(args, 0)?.shape);
    let others = (0..input.rank()).filter(|other| *other != dim);
    for index in 0..input.size(dim) {
        let out = args.tensor_of(2, index)?;
        out.resize(&shape)?;
        let from = Place::of(&input).moved(dim, index as i64).with_dims(others.clone());
        transfer::region::<D>(&shape, (&input, from), (&out, Place::of(&out)))?;
    }
    Ok(())
}

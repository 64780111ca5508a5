//! `aten::index_select`: selects the given indices of a dimension.

use crate::family::place::Place;
use crate::family::{index, transfer};
use crate::prelude::*;

/// `torch.index_select`.
#[cfg(feature = "catalogue")]
pub const INDEX_SELECT: Operator = Operator {
    schema: "aten::index_select.out(Tensor self, int dim, Tensor index, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::index_select",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "columns",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(1),
                Tensor(CaseTensor::long(&[2], &[2.0, 0.0])),
            ],
            &[CaseTensor::float(&[2, 2], &[3.0, 1.0, 6.0, 4.0])],
        ),
        Case::exact(
            "narrow indices",
            &[
                Tensor(CaseTensor::bool(&[2], &[0.0, 1.0])),
                Int(0),
                Tensor(CaseTensor::of(ScalarType::Int, &[3], &[1.0, 1.0, 0.0])),
            ],
            &[CaseTensor::bool(&[3], &[1.0, 1.0, 0.0])],
        ),
        Case::refused(
            "an index out of range",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Int(0), Tensor(CaseTensor::long(&[1], &[-1.0]))],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (mut shape, indices) = (args.tensor(0)?.shape(), args.tensor(2)?.shape());
    let axis = shape.axis(args.int(1)?)?;
    let [_, count, 1] = indices.around(0) else { return Err(Error::InvalidArgument) };
    match shape.sizes_mut().get_mut(axis) {
        Some(size) => *size = count as i32,
        None if count == 1 => {}
        None => return Err(Error::InvalidArgument),
    }
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, indices, out] = [args.tensor(0)?, args.tensor(2)?, args.tensor(3)?];
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    let mut slice = input.shape();
    let axis = slice.axis(args.int(1)?)?;
    let [_, size, _] = slice.around(axis);
    if let Some(size) = slice.sizes_mut().get_mut(axis) {
        *size = 1;
    }
    for position in 0..indices.numel() {
        let from = Place::of(&input).moved(axis, index::load(&indices, position, size)? as i64);
        let to = Place::of(&out).moved(axis, position as i64);
        transfer::region::<D>(&slice, (&input, from), (&out, to))?;
    }
    Ok(())
}

//! `executorch_prim::et_view`: a different shape over the same memory. A size of -1 is inferred from the rest.

use et_core::{Args, Error, Result, Value};

use crate::operator::kernel_path;
use crate::primitive::{Primitive, PrimitiveResult};
use crate::views::view_copy;

/// `torch.Tensor.view`: the out tensor takes the shape, and from then on lies where `self` does.
#[cfg(feature = "catalogue")]
pub const ET_VIEW: Primitive = Primitive {
    schema: "executorch_prim::et_view.default(Tensor self, int[] size, Tensor(a!) out) -> ()",
    exported: "",
    path: kernel_path!(et_view),
    result: PrimitiveResult::Tensor,
    kernel: et_view,
    cases: &[],
};

/// The kernel of [`ET_VIEW`].
pub fn et_view(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    let meta = view_copy::infer(args, 0)?;
    if meta.scalar_type != out.scalar_type() || !input.is_contiguous() || !out.is_contiguous() {
        return Err(Error::InvalidArgument);
    }
    out.resize(&meta.shape)?;
    args.set(2, Value::Tensor(out.over(&input)?))
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use et_core::{Indices, Longs, ScalarType, Storage, Tensor, TensorLayout};

    use super::*;

    fn tensor<'a>(sizes: &'a [u8], dim_order: &'a [u8], storage: Storage<'a>) -> Value<'a> {
        let layout = TensorLayout { scalar_type: ScalarType::Byte, sizes: Indices::new(sizes), dim_order };
        Value::Tensor(Tensor::place(layout, storage, None).unwrap())
    }

    fn view(out_sizes: &[u8]) -> Result<u8> {
        let elements = [1, 2, 3, 4, 5, 6];
        let (input, out) = (
            tensor(&[2, 0, 0, 0, 3, 0, 0, 0], &[0, 1], Storage::Constant(&elements)),
            tensor(out_sizes, &[0, 1], Storage::Missing),
        );
        let sizes: std::vec::Vec<u8> = [3_i64, 4].into_iter().flat_map(i64::to_le_bytes).collect();
        let values = [input, Value::IntList(Longs::new(&sizes)), out, Value::Int(3), Value::Int(-1)].map(Cell::new);
        let slots = [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];
        let args = Args::new(&values, Indices::new(&slots));
        et_view(&args)?;
        Ok(args.tensor(2)?.input::<u8>()?.get(5))
    }

    #[test]
    fn the_elements_are_those_of_the_input() {
        assert_eq!(view(&[3, 0, 0, 0, 2, 0, 0, 0]), Ok(6));
    }

    #[test]
    fn another_shape_than_planned_is_refused() {
        assert_eq!(view(&[1, 0, 0, 0, 6, 0, 0, 0]), Err(Error::InvalidArgument));
    }
}

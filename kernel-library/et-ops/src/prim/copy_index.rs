//! `executorch_prim::et_copy_index`: a step of a loop writes its row of a stack.

use et_core::{Args, Error, Result, Shape, Tensor};

use crate::operator::kernel_path;
use crate::primitive::{Primitive, PrimitiveResult};

/// `copy_to[index] = copy_from`. A dynamic `copy_to` grows or shrinks to `index + 1` rows.
#[cfg(feature = "catalogue")]
pub const ET_COPY_INDEX: Primitive = Primitive {
    schema: "executorch_prim::et_copy_index.tensor(Tensor(a!) copy_to, Tensor copy_from, int index) -> ()",
    exported: "",
    path: kernel_path!(et_copy_index),
    result: PrimitiveResult::Tensor,
    kernel: et_copy_index,
    cases: &[],
};

/// The kernel of [`ET_COPY_INDEX`].
pub fn et_copy_index(args: &Args<'_, '_>) -> Result<()> {
    let (stack, row) = (args.tensor(0)?, args.tensor(1)?);
    let index = i32::try_from(args.int(2)?).ok().filter(|index| *index >= 0).ok_or(Error::InvalidArgument)?;
    if stack.scalar_type() != row.scalar_type() || !stack.is_contiguous() || !row.is_contiguous() {
        return Err(Error::InvalidArgument);
    }
    resize(&stack, &row.shape(), index)?;
    let size = row.nbytes();
    let (from, to) = (row.bytes()?, stack.bytes_mut()?);
    from.iter().enumerate().for_each(|(offset, byte)| to.set(index as usize * size + offset, byte));
    Ok(())
}

/// Resizes a dynamic `stack` to `index + 1` rows of shape `row`. Refuses a static `stack` without row `index`.
fn resize(stack: &Tensor<'_>, row: &Shape, index: i32) -> Result<()> {
    let rows =
        if stack.is_dynamic() { index.checked_add(1).ok_or(Error::InvalidArgument)? } else { stack.size(0) as i32 };
    let mut shape = Shape::new(&[rows])?;
    row.sizes().iter().try_for_each(|size| shape.push(*size))?;
    if index < rows { stack.resize(&shape) } else { Err(Error::InvalidArgument) }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use et_core::{Indices, ScalarType, Storage, TensorLayout, Value};

    use super::*;

    fn copied(bounds: Option<&mut [i32]>, index: i64) -> Result<(usize, [u8; 4])> {
        let mut bytes = [9, 9, 9, 9];
        let layout =
            |sizes, dim_order| TensorLayout { scalar_type: ScalarType::Byte, sizes: Indices::new(sizes), dim_order };
        let stack =
            Tensor::place(layout(&[2, 0, 0, 0, 2, 0, 0, 0], &[0, 1]), Storage::exclusive(&mut bytes), bounds).unwrap();
        let row = Tensor::place(layout(&[2, 0, 0, 0], &[0]), Storage::Constant(&[1, 2]), None).unwrap();
        let values = [Value::Tensor(stack), Value::Tensor(row), Value::Int(index)].map(Cell::new);
        et_copy_index(&Args::new(&values, Indices::new(&[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])))?;
        let rows = stack.size(0);
        Ok((rows, bytes))
    }

    #[test]
    fn a_row_is_written() {
        assert_eq!(copied(None, 1), Ok((2, [9, 9, 1, 2])));
        assert_eq!(copied(None, 2), Err(Error::InvalidArgument));
        assert_eq!(copied(None, -1), Err(Error::InvalidArgument));
    }

    #[test]
    fn a_dynamic_stack_has_the_rows_written_so_far() {
        assert_eq!(copied(Some(&mut [0; 4]), 0), Ok((1, [1, 2, 9, 9])));
        assert_eq!(copied(Some(&mut [0; 4]), 2), Err(Error::InvalidArgument));
    }
}

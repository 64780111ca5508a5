//! `mylib::low_high`: the smallest and the largest element of each row of a matrix.

use et_core::{Args, Element, Error, Input, Number, Result, Shape};
use et_ops::dispatch;

/// The kernel for the dtypes in `D`: the matrix, then both out tensors, which are as long as the matrix has rows at run time.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (x, low, high) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let shape = x.shape();
    let &[rows, columns] = shape.sizes() else { return Err(Error::InvalidArgument) };
    if columns == 0 || !x.is_contiguous() {
        return Err(Error::InvalidArgument);
    }
    let lines = Shape::new(&[rows])?;
    low.resize(&lines)?;
    high.resize(&lines)?;
    dispatch!(D, x.scalar_type(), floats, T => {
        let (x, low, high) = (x.input::<T>()?, low.output::<T>()?, high.output::<T>()?);
        for row in 0..low.len() {
            let (least, most) = extremes(x.window(row * columns as usize, columns as usize));
            low.set(row, least);
            high.set(row, most);
        }
        Ok(())
    })
}

/// The smallest and the largest element of a row that is not empty.
fn extremes<T: Number + Element + PartialOrd>(row: Input<'_, T>) -> (T, T) {
    let first = row.get(0);
    (1..row.len()).map(|column| row.get(column)).fold((first, first), |(least, most), element| {
        (if element < least { element } else { least }, if element > most { element } else { most })
    })
}

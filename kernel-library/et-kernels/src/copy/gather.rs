//! Gather of table rows by index: embedding lookup.

use et_core::{Error, Result};

use crate::check::{ensure, product};

/// Copies row `indices[i]` of `table`, with `columns` elements per row, to row `i` of the output. Fails if an index is
/// out of range; earlier rows may have been written.
pub fn gather_rows<T: Copy, I: Copy + Into<i64>>(
    table: &[T],
    columns: usize,
    indices: &[I],
    output: &mut [T],
) -> Result<()> {
    ensure(columns > 0 && product(&[indices.len(), columns])? == output.len())?;
    for (index, output) in indices.iter().zip(output.chunks_exact_mut(columns)) {
        let index = usize::try_from((*index).into()).map_err(|_| Error::InvalidArgument)?;
        let start = index.checked_mul(columns).ok_or(Error::InvalidArgument)?;
        let row = table.get(start..).and_then(|rest| rest.get(..columns)).ok_or(Error::InvalidArgument)?;
        output.copy_from_slice(row);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_number() {
        let table = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5];
        let mut output = [9.0; 6];
        gather_rows(&table, 2, &[2_i64, 0, 2], &mut output).unwrap();
        assert_eq!(output, [2.0, 2.5, 0.0, 0.5, 2.0, 2.5]);
        gather_rows(&table, 3, &[1_i32, 0], &mut output).unwrap();
        assert_eq!(output, [1.5, 2.0, 2.5, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn rows_outside_of_the_table_are_refused() {
        for index in [3, -1, i64::MAX] {
            assert_eq!(gather_rows(&[0; 6], 2, &[index], &mut [0; 2]), Err(Error::InvalidArgument));
        }
        assert_eq!(gather_rows(&[0; 6], 2, &[0_i64], &mut [0; 3]), Err(Error::InvalidArgument));
    }
}

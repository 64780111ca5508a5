//! The greatest or least elements of rows, in order. NaN is greatest, and of equal elements the first comes first.

use et_core::{Error, Result};

/// Writes the best `count` elements of each row of `columns` elements, and their indices: `is_largest` says whether the greatest are best.
///
/// # Errors
/// [`Error::InvalidArgument`] for more elements than a row has, and for results of other sizes.
pub fn topk(
    input: &[f32],
    columns: usize,
    is_largest: bool,
    (values, indices): (&mut [f32], &mut [i64]),
    count: usize,
) -> Result<()> {
    let rows = input.len().checked_div(columns).ok_or(Error::InvalidArgument)?;
    let fits = rows.checked_mul(count).is_some_and(|size| [size; 2] == [values.len(), indices.len()]);
    if !fits || count > columns {
        return Err(Error::InvalidArgument);
    }
    let results = values.chunks_exact_mut(count.max(1)).zip(indices.chunks_exact_mut(count.max(1)));
    for (row, (values, indices)) in input.chunks_exact(columns).zip(results) {
        let mut found = 0;
        for (index, element) in row.iter().enumerate() {
            let better = |other: &f32| beats(*element, *other, is_largest);
            // Later elements do not go before equal ones.
            let place = values[..found].iter().rposition(|other| !better(other)).map_or(0, |last| last + 1);
            if place < count {
                found = (found + 1).min(count);
                values.copy_within(place..found - 1, place + 1);
                indices.copy_within(place..found - 1, place + 1);
                (values[place], indices[place]) = (*element, index as i64);
            }
        }
    }
    Ok(())
}

fn beats(left: f32, right: f32, is_largest: bool) -> bool {
    match is_largest {
        true => left > right || (left.is_nan() && !right.is_nan()),
        false => left < right || (right.is_nan() && !left.is_nan()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<const N: usize>(row: &[f32], is_largest: bool) -> ([f32; N], [i64; N]) {
        let (mut values, mut indices) = ([0.0; N], [0; N]);
        topk(row, row.len(), is_largest, (&mut values, &mut indices), N).unwrap();
        (values, indices)
    }

    #[test]
    fn equal_elements_keep_their_order_and_nan_is_greatest() {
        assert_eq!(best(&[1.0, 3.0, 2.0, 3.0, -1.0], true), ([3.0, 3.0, 2.0], [1, 3, 2]));
        assert_eq!(best(&[1.0, 3.0, 1.0, 0.0], false), ([0.0, 1.0, 1.0], [3, 0, 2]));
        let (values, indices) = best::<2>(&[1.0, f32::NAN, 2.0], true);
        assert!(values[0].is_nan() && values[1] == 2.0 && indices == [1, 2]);
        assert_eq!(best(&[f32::NAN, 2.0], false).1, [1, 0]);
    }

    #[test]
    fn more_elements_than_a_row_has_are_an_error() {
        let (mut values, mut indices) = ([0.0; 3], [0; 3]);
        assert!(topk(&[1.0, 2.0], 2, true, (&mut values, &mut indices), 3).is_err());
        assert!(topk(&[], 0, true, (&mut values, &mut indices), 3).is_err());
    }
}

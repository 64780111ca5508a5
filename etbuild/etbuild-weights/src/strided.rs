//! Elements in another order of memory.

/// The elements of a tensor in row-major order, of so many bytes each; strides count elements. `None` beyond the end of the bytes.
pub fn row_major(bytes: &[u8], size: usize, sizes: &[usize], strides: &[usize]) -> Option<Vec<u8>> {
    let mut ordered = Vec::with_capacity(bytes.len());
    append(bytes, size, sizes, strides, 0, &mut ordered)?;
    Some(ordered)
}

/// Appends the elements of a part, of which the first element is at a place.
fn append(bytes: &[u8], size: usize, sizes: &[usize], strides: &[usize], place: usize, to: &mut Vec<u8>) -> Option<()> {
    let (Some((count, sizes)), Some((stride, strides))) = (sizes.split_first(), strides.split_first()) else {
        to.extend_from_slice(bytes.get(place * size..(place + 1) * size)?);
        return Some(());
    };
    (0..*count).try_for_each(|index| append(bytes, size, sizes, strides, place + index * stride, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_by_columns_becomes_one_by_rows() {
        assert_eq!(
            row_major(&[0, 0, 1, 0, 0, 1, 1, 1, 0, 2, 1, 2], 2, &[2, 3], &[1, 2]),
            Some(vec![0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2])
        );
        assert_eq!(row_major(&[7], 1, &[], &[]), Some(vec![7]));
        assert_eq!(row_major(&[0; 5], 1, &[2, 3], &[1, 2]), None);
    }
}

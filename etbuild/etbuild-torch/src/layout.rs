//! Elements of strided tensors in row-major order.

/// The elements in row-major order, gathered from the bytes of a storage; `offset` and `strides` count elements of `size` bytes.
///
/// `None` for elements outside the storage.
pub fn gather(storage: &[u8], size: usize, sizes: &[usize], strides: &[i64], offset: i64) -> Option<Vec<u8>> {
    let count = sizes.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))?;
    let mut elements = Vec::with_capacity(count.checked_mul(size)?);
    let mut position = vec![0; sizes.len()];
    for _ in 0..count {
        let start = place(&position, strides, offset)?.checked_mul(size)?;
        elements.extend_from_slice(storage.get(start..start.checked_add(size)?)?);
        advance(&mut position, sizes);
    }
    Some(elements)
}

/// The index in the storage of the element at `position`.
fn place(position: &[usize], strides: &[i64], offset: i64) -> Option<usize> {
    let add = |place: i64, (index, stride): (&usize, &i64)| {
        place.checked_add(stride.checked_mul(i64::try_from(*index).ok()?)?)
    };
    usize::try_from(position.iter().zip(strides).try_fold(offset, add)?).ok()
}

/// Moves to the next position in row-major order.
fn advance(position: &mut [usize], sizes: &[usize]) {
    for (index, size) in position.iter_mut().zip(sizes).rev() {
        *index += 1;
        if *index < *size {
            return;
        }
        *index = 0;
    }
}

/// Whether the elements are neighbours in row-major order.
pub fn is_row_major(sizes: &[usize], strides: &[i64]) -> bool {
    let mut step = 1_i64;
    sizes.iter().zip(strides).rev().all(|(size, stride)| {
        let fits = *size == 1 || *stride == step;
        step = step.saturating_mul(i64::try_from(*size).unwrap_or(i64::MAX));
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposed_tensor_becomes_row_major() {
        assert!(!is_row_major(&[2, 3], &[1, 2]) && is_row_major(&[2, 1, 3], &[3, 9, 1]));
        assert_eq!(gather(&[0, 1, 2, 3, 4, 5], 1, &[2, 3], &[1, 2], 0), Some(vec![0, 2, 4, 1, 3, 5]));
    }

    #[test]
    fn an_expanded_tensor_repeats_its_elements() {
        assert_eq!(gather(&[7, 8], 1, &[2, 2], &[0, 1], 0), Some(vec![7, 8, 7, 8]));
    }

    #[test]
    fn elements_outside_the_storage_are_refused() {
        assert_eq!(gather(&[0; 3], 1, &[2], &[2], 0), Some(vec![0, 0]));
        assert_eq!(gather(&[0; 3], 1, &[2], &[2], 1), None);
        assert_eq!(gather(&[0; 3], 1, &[2], &[-1], 0), None);
        assert_eq!(gather(&[0; 3], 1, &[2], &[i64::MAX], 1), None);
    }
}

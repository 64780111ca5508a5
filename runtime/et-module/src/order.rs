//! Reorders elements between row-major order and a tensor's own.

use et_core::{MAX_RANK, Tensor};

/// The bytes of a tensor in row-major order, from the bytes in memory order.
pub(crate) fn to_row_major(tensor: &Tensor<'_>, bytes: Vec<u8>) -> Vec<u8> {
    if tensor.is_contiguous() {
        return bytes;
    }
    let mut ordered = vec![0; bytes.len()];
    for_each_element(tensor, |logical, physical| copy(&bytes, physical, &mut ordered, logical));
    ordered
}

/// The bytes of a tensor in memory order, from the bytes in row-major order.
pub(crate) fn from_row_major(tensor: &Tensor<'_>, bytes: &[u8]) -> Vec<u8> {
    let mut ordered = vec![0; bytes.len()];
    for_each_element(tensor, |logical, physical| copy(bytes, logical, &mut ordered, physical));
    ordered
}

/// A range of bytes.
type Place = std::ops::Range<usize>;

/// Calls `visit` with each element's place in row-major and in memory order.
fn for_each_element(tensor: &Tensor<'_>, mut visit: impl FnMut(Place, Place)) {
    let (shape, strides, size) = (tensor.shape(), tensor.strides(), tensor.scalar_type().size());
    let mut index = [0; MAX_RANK];
    for element in 0..tensor.numel() {
        let offset: usize = index.iter().zip(strides).map(|(index, stride)| index * stride).sum();
        visit(element * size..(element + 1) * size, offset * size..(offset + 1) * size);
        advance(&mut index, shape.sizes());
    }
}

/// The next index in row-major order.
fn advance(index: &mut [usize; MAX_RANK], sizes: &[i32]) {
    for (position, size) in index.iter_mut().zip(sizes).rev() {
        *position += 1;
        if *position < *size as usize {
            return;
        }
        *position = 0;
    }
}

fn copy(from: &[u8], source: Place, to: &mut [u8], target: Place) {
    if let (Some(source), Some(target)) = (from.get(source), to.get_mut(target)) {
        target.copy_from_slice(source);
    }
}

#[cfg(test)]
mod tests {
    use et_core::{Indices, ScalarType, Storage, TensorLayout};

    use super::*;

    #[test]
    fn channels_last_and_back() {
        let sizes: Vec<u8> = [1_i32, 2, 1, 3].iter().flat_map(|size| size.to_le_bytes()).collect();
        let layout =
            TensorLayout { scalar_type: ScalarType::Byte, sizes: Indices::new(&sizes), dim_order: &[0, 2, 3, 1] };
        let tensor = Tensor::place(layout, Storage::Missing, None).unwrap();
        let memory = from_row_major(&tensor, &[0, 1, 2, 10, 11, 12]);
        assert_eq!(memory, [0, 10, 1, 11, 2, 12]);
        assert_eq!(to_row_major(&tensor, memory), [0, 1, 2, 10, 11, 12]);
    }
}

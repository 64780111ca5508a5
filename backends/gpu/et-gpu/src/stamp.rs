//! Stamps: the first bytes of a tensor whose contents are on a device.

use core::array::from_fn;
use std::sync::atomic::{AtomicU64, Ordering};

use et_core::Tensor;

use crate::problem::Outcome;

/// The bytes of a stamp.
pub const SIZE: usize = 16;

/// The first half of every stamp: random bytes, which no tensor has by chance.
const MAGIC: [u8; SIZE / 2] = [0x9d, 0x7c, 0xe1, 0xf3, 0xa8, 0xb4, 0x56, 0x0b];

/// The number of the next stamp.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The stamp of one copy on a device.
pub struct Stamp([u8; SIZE]);

impl Stamp {
    /// A stamp that no tensor has yet.
    pub fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        let mut bytes = MAGIC.into_iter().chain(number);
        Self(from_fn(|_| bytes.next().unwrap_or_default()))
    }

    /// Whether a tensor has the stamp: the contents are in the copy.
    pub fn is_on(&self, tensor: &Tensor<'_>) -> bool {
        first_bytes(tensor) == Some(self.0)
    }

    /// Stamps a tensor.
    pub fn put_on(&self, tensor: &Tensor<'_>) -> Outcome<()> {
        let bytes = tensor.bytes_mut()?;
        self.0.into_iter().enumerate().for_each(|(index, byte)| bytes.set(index, byte));
        Ok(())
    }
}

/// Whether a tensor has a stamp: the contents are in some copy, or were in a copy that is gone.
pub fn is_stamped(tensor: &Tensor<'_>) -> bool {
    first_bytes(tensor).is_some_and(|bytes| bytes.starts_with(&MAGIC))
}

fn first_bytes(tensor: &Tensor<'_>) -> Option<[u8; SIZE]> {
    let bytes = tensor.bytes().ok().filter(|bytes| bytes.len() >= SIZE)?;
    Some(from_fn(|index| bytes.get(index)))
}

#[cfg(test)]
mod tests {
    use et_core::{Access, Indices, ScalarType, TensorLayout};

    use super::*;

    #[test]
    #[allow(unsafe_code, reason = "the tensor is made of memory")]
    fn a_tensor_has_the_last_stamp() {
        for size in [SIZE as u8, SIZE as u8 + 5] {
            let (mut memory, sizes) = (vec![7_u8; usize::from(size)], [size, 0, 0, 0]);
            let layout = TensorLayout { scalar_type: ScalarType::Byte, sizes: Indices::new(&sizes), dim_order: &[0] };
            // SAFETY: the tensor has the size of the memory, which only the tensor accesses.
            let tensor = unsafe { Tensor::new(layout, memory.as_mut_ptr(), Access::Writable) }.unwrap();
            let stamps = [Stamp::new(), Stamp::new()];
            assert!(!is_stamped(&tensor) && !stamps[0].is_on(&tensor));
            for (index, stamp) in stamps.iter().enumerate() {
                stamp.put_on(&tensor).unwrap();
                assert!(is_stamped(&tensor));
                assert_eq!([0, 1].map(|other: usize| stamps[other].is_on(&tensor)), [index == 0, index == 1]);
            }
            tensor.bytes_mut().unwrap().set(0, 7);
            assert!(!is_stamped(&tensor) && !stamps[1].is_on(&tensor));
        }
    }
}

//! Reading stored tensors: words of packed integers, and floating-point numbers.

use et_core::{BFloat16, Half, ScalarType};
use etbuild_ir::Digest;

use crate::tensor::Tensor;

/// A stored tensor of any type, whose elements are read one by one.
#[derive(Clone)]
pub struct Lanes(pub Tensor);

impl Lanes {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        let length = self.0.shape.iter().product::<usize>() * self.0.scalar_type.size();
        self.0.shard.bytes().get(self.0.start..self.0.start + length).unwrap_or_default()
    }

    /// A 32-bit word.
    pub fn word(&self, index: usize) -> u32 {
        self.array(index).map_or(0, u32::from_le_bytes)
    }

    /// A byte.
    pub fn byte(&self, index: usize) -> u8 {
        self.bytes().get(index).copied().unwrap_or_default()
    }

    /// A floating-point number.
    pub fn real(&self, index: usize) -> f32 {
        match self.0.scalar_type {
            ScalarType::Half => self.array(index).map_or(0.0, |bytes| Half(u16::from_le_bytes(bytes)).to_f32()),
            ScalarType::BFloat16 => self.array(index).map_or(0.0, |bytes| BFloat16(u16::from_le_bytes(bytes)).to_f32()),
            _ => self.array(index).map_or(0.0, f32::from_le_bytes),
        }
    }

    /// The floating-point numbers from `first` on, each so many elements behind the last.
    pub fn reals(&self, first: usize, step: usize) -> Vec<f32> {
        (first..self.count()).step_by(step.max(1)).map(|index| self.real(index)).collect()
    }

    /// How many elements there are.
    pub fn count(&self) -> usize {
        self.0.shape.iter().product()
    }

    /// The digest of the bytes.
    pub fn digest(&self) -> Digest {
        Digest::of(self.bytes())
    }

    fn array<const N: usize>(&self, index: usize) -> Option<[u8; N]> {
        self.bytes().get(index * N..index * N + N)?.try_into().ok()
    }
}

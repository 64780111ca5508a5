//! Elements of stored weights: `float32`, `float16` or `bfloat16`.

use et_core::{Half, ScalarType};

/// Stored elements, little-endian.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    scalar_type: ScalarType,
    bytes: &'a [u8],
}

impl<'a> Elements<'a> {
    /// Elements of this type; `None` for a type that `float32` cannot represent exactly.
    pub fn new(scalar_type: ScalarType, bytes: &'a [u8]) -> Option<Self> {
        let known = matches!(scalar_type, ScalarType::Float | ScalarType::Half | ScalarType::BFloat16);
        known.then_some(Self { scalar_type, bytes })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.scalar_type.size()
    }

    /// Elements `start..start + length`, clipped to the stored elements.
    #[must_use]
    pub fn part(&self, start: usize, length: usize) -> Self {
        let size = self.scalar_type.size();
        let end = (start + length).min(self.len());
        Self { bytes: self.bytes.get(start * size..end * size).unwrap_or_default(), ..*self }
    }

    /// Replaces the contents of `values` by the elements as `float32`.
    pub fn widen(&self, values: &mut Vec<f32>) {
        values.resize(self.len(), 0.0);
        match self.scalar_type {
            ScalarType::Half => self.each(values, |bytes| Half(u16::from_le_bytes(bytes)).to_f32()),
            // Written out, so that compilers emit vector instructions.
            ScalarType::BFloat16 => {
                self.each(values, |bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16));
            }
            _ => self.each(values, f32::from_le_bytes),
        }
    }

    fn each<const N: usize>(&self, values: &mut [f32], widened: impl Fn([u8; N]) -> f32) {
        values.iter_mut().zip(self.bytes.as_chunks::<N>().0).for_each(|(to, bytes)| *to = widened(*bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_float_type_widens_exactly() {
        let widened = |scalar_type, bytes: &[u8]| {
            let mut values = vec![7.0];
            Elements::new(scalar_type, bytes).unwrap().widen(&mut values);
            values
        };
        assert_eq!(widened(ScalarType::BFloat16, &[0x80, 0x3f, 0x20, 0xc0]), [1.0, -2.5]);
        assert_eq!(widened(ScalarType::Half, &[0x00, 0x3c, 0x00, 0xc1]), [1.0, -2.5]);
        assert_eq!(widened(ScalarType::Float, &(-2.5_f32).to_le_bytes()), [-2.5]);
        assert!(Elements::new(ScalarType::Double, &[]).is_none());
    }

    #[test]
    fn a_part_is_clipped_to_the_elements() {
        let elements = Elements::new(ScalarType::Half, &[0; 10]).unwrap();
        assert_eq!((elements.len(), elements.part(3, 4).len(), elements.part(9, 1).len()), (5, 2, 0));
    }
}

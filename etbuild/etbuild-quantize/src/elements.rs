//! Elements of weights as models store them: numbers of `float32`, or halves that stand for such.

use et_core::{Half, ScalarType};

/// Stored elements, little-endian.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    scalar_type: ScalarType,
    bytes: &'a [u8],
}

impl<'a> Elements<'a> {
    /// Elements of this type; `None` for one that has no exact `float32`.
    pub fn new(scalar_type: ScalarType, bytes: &'a [u8]) -> Option<Self> {
        let known = matches!(scalar_type, ScalarType::Float | ScalarType::Half | ScalarType::BFloat16);
        known.then_some(Self { scalar_type, bytes })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.scalar_type.size()
    }

    /// Elements `start..start + length`, as far as there are such.
    #[must_use]
    pub fn part(&self, start: usize, length: usize) -> Self {
        let size = self.scalar_type.size();
        let end = (start + length).min(self.len());
        Self { bytes: self.bytes.get(start * size..end * size).unwrap_or_default(), ..*self }
    }

    /// Puts the numbers in the place of what `reals` holds.
    pub fn widen(&self, reals: &mut Vec<f32>) {
        reals.resize(self.len(), 0.0);
        match self.scalar_type {
            ScalarType::Half => self.each(reals, |bytes| Half(u16::from_le_bytes(bytes)).to_f32()),
            // Spelled out, so that it is a vector instruction.
            ScalarType::BFloat16 => {
                self.each(reals, |bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16));
            }
            _ => self.each(reals, f32::from_le_bytes),
        }
    }

    fn each<const N: usize>(&self, reals: &mut [f32], real: impl Fn([u8; N]) -> f32) {
        reals.iter_mut().zip(self.bytes.as_chunks::<N>().0).for_each(|(to, bytes)| *to = real(*bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_of_numbers_keep_their_values() {
        let widened = |scalar_type, bytes: &[u8]| {
            let mut reals = vec![7.0];
            Elements::new(scalar_type, bytes).unwrap().widen(&mut reals);
            reals
        };
        assert_eq!(widened(ScalarType::BFloat16, &[0x80, 0x3f, 0x20, 0xc0]), [1.0, -2.5]);
        assert_eq!(widened(ScalarType::Half, &[0x00, 0x3c, 0x00, 0xc1]), [1.0, -2.5]);
        assert_eq!(widened(ScalarType::Float, &(-2.5_f32).to_le_bytes()), [-2.5]);
        assert!(Elements::new(ScalarType::Double, &[]).is_none());
    }

    #[test]
    fn a_part_ends_where_the_elements_do() {
        let elements = Elements::new(ScalarType::Half, &[0; 10]).unwrap();
        assert_eq!((elements.len(), elements.part(3, 4).len(), elements.part(9, 1).len()), (5, 2, 0));
    }
}

//! The types of 16-bit weights.

use et_core::{BFloat16, Half};

/// The type of 16-bit weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halves {
    /// fp16.
    Fp16,
    /// bf16.
    Bf16,
}

impl Halves {
    /// Both types, the one that is faster to widen first.
    pub const ALL: [Self; 2] = [Self::Bf16, Self::Fp16];

    /// The bits of a number; `None` for a number that is not exact in the type, or not finite.
    pub fn bits(self, number: f32) -> Option<u16> {
        let bits = match self {
            Self::Fp16 => Half::from_f32(number).0,
            Self::Bf16 => (number.to_bits() >> 16) as u16,
        };
        (number.is_finite() && self.number(bits).to_bits() == number.to_bits()).then_some(bits)
    }

    /// The number of some bits.
    pub fn number(self, bits: u16) -> f32 {
        match self {
            Self::Fp16 => Half(bits).to_f32(),
            Self::Bf16 => BFloat16(bits).to_f32(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_numbers_have_bits() {
        assert_eq!(Halves::Bf16.bits(-2.5), Some(0xc020));
        assert_eq!(Halves::Fp16.bits(-2.5), Some(0xc100));
        assert_eq!([1.0 / 3.0, f32::NAN, f32::INFINITY].map(|number| Halves::Bf16.bits(number)), [None; 3]);
        assert_eq!([1.0 / 3.0, 1e6, f32::NAN, f32::INFINITY].map(|number| Halves::Fp16.bits(number)), [None; 4]);
        // fp16 has more bits of a fraction, bf16 smaller numbers; 2^-24 is a subnormal number of fp16.
        assert_eq!(
            (Halves::Fp16.bits(1.0 + 1.0 / 1024.0), Halves::Bf16.bits(1.0 + 1.0 / 1024.0)),
            (Some(0x3c01), None)
        );
        assert_eq!((Halves::Fp16.bits(2f32.powi(-24)), Halves::Bf16.bits(2f32.powi(-100))), (Some(1), Some(0x0d80)));
        assert_eq!(Halves::ALL.map(|kind| kind.bits(-0.0)), [Some(0x8000); 2]);
    }
}

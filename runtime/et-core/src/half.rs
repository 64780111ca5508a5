//! The two 16-bit floating-point formats, stored as bits and computed in `f32`.

/// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Half(pub u16);

/// bfloat16: the upper 16 bits of a binary32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct BFloat16(pub u16);

impl Half {
    /// Rounds to nearest, ties to even; overflow gives infinity, NaN stays NaN.
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        let sign = (bits >> 16) as u16 & 0x8000;
        let magnitude = bits & 0x7fff_ffff;
        Self(sign | magnitude_to_half(magnitude))
    }

    /// The same number; every binary16 is a binary32.
    pub fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let exponent = u32::from(self.0 >> 10) & 0x1f;
        let fraction = u32::from(self.0) & 0x3ff;
        let magnitude = match exponent {
            // Subnormal: fraction times 2^-24.
            0 => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(),
            0x1f => 0x7f80_0000 | fraction << 13,
            _ => (exponent + 112) << 23 | fraction << 13,
        };
        f32::from_bits(sign | magnitude)
    }
}

/// `magnitude`: the bits of a non-negative binary32.
fn magnitude_to_half(magnitude: u32) -> u16 {
    const INFINITY: u32 = 0x7f80_0000;
    const OVERFLOW: u32 = 0x4780_0000; // 65536.0
    const SMALLEST_NORMAL: u32 = 0x3880_0000; // 2^-14
    const SUBNORMAL_MAGIC: u32 = 0x3f00_0000; // 0.5: adding it aligns a subnormal's bits at the bottom
    if magnitude > INFINITY {
        0x7e00
    } else if magnitude >= OVERFLOW {
        0x7c00
    } else if magnitude < SMALLEST_NORMAL {
        let aligned = f32::from_bits(magnitude) + f32::from_bits(SUBNORMAL_MAGIC);
        (aligned.to_bits() - SUBNORMAL_MAGIC) as u16
    } else {
        let odd = magnitude >> 13 & 1;
        ((magnitude - (112 << 23) + 0xfff + odd) >> 13) as u16
    }
}

impl BFloat16 {
    /// Rounds to nearest, ties to even; NaN stays NaN.
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        if value.is_nan() {
            return Self((bits >> 16) as u16 | 0x40);
        }
        let odd = bits >> 16 & 1;
        Self(((bits + 0x7fff + odd) >> 16) as u16)
    }

    /// The same number; every bfloat16 is a binary32.
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_round_trip() {
        for bits in 0..=u16::MAX {
            let value = Half(bits).to_f32();
            if value.is_nan() {
                assert!(Half::from_f32(value).to_f32().is_nan());
            } else {
                assert_eq!(Half::from_f32(value), Half(bits), "{value}");
            }
        }
    }

    #[test]
    fn halves_round_ties_to_even_and_overflow_to_infinity() {
        assert_eq!(Half::from_f32(2049.0).to_f32(), 2048.0);
        assert_eq!(Half::from_f32(2051.0).to_f32(), 2052.0);
        assert_eq!(Half::from_f32(65519.0).to_f32(), 65504.0);
        assert_eq!(Half::from_f32(65520.0).to_f32(), f32::INFINITY);
        assert_eq!(Half::from_f32(2.0_f32.powi(-25)).to_f32(), 0.0);
    }

    #[test]
    fn bfloat16_rounds_ties_to_even() {
        assert_eq!(BFloat16::from_f32(257.0).to_f32(), 256.0);
        assert_eq!(BFloat16::from_f32(259.0).to_f32(), 260.0);
        assert!(BFloat16::from_f32(f32::NAN).to_f32().is_nan());
    }
}

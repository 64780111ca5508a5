//! Numbers with an exponent.

/// The number `mantissa * 2^-exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaled {
    /// An integer of up to 63 bits.
    pub mantissa: u64,
    /// How many of its bits are fractional; may be negative.
    pub exponent: i32,
}

/// The bits that a number may have where another is added.
const ROOM: i32 = 39;

impl Scaled {
    /// The number of a positive normal `float32`.
    pub const fn of_float_bits(bits: u32) -> Self {
        Self { mantissa: (bits & 0x7f_ffff | 0x80_0000) as u64, exponent: 150 - (bits >> 23) as i32 }
    }

    /// The number `(high * 2^32 + low) * 2^-exponent`, for a sum of two numbers of up to 63 bits.
    pub const fn of_words(high: u64, low: u64, exponent: i32) -> Self {
        let high = high + (low >> 32);
        if high < 1 << 31 {
            Self { mantissa: high << 32 | (low & 0xffff_ffff), exponent }
        } else {
            Self { mantissa: high, exponent: exponent - 32 }
        }
    }

    /// The sum of this number and one that was made of a float, or the greater of the two, with the greater exponent that both can have.
    pub fn with(self, float: Self, is_added: bool) -> Self {
        let up = self.exponent - float.exponent;
        let down = (up - ROOM).max(0);
        let mine = self.mantissa.checked_shr(down as u32).unwrap_or(0);
        let up = up - down;
        let theirs =
            if up >= 0 { float.mantissa << up } else { float.mantissa.checked_shr(up.unsigned_abs()).unwrap_or(0) };
        let mantissa = if is_added { mine.wrapping_add(theirs) } else { mine.max(theirs) };
        Self { mantissa, exponent: self.exponent - down }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(number: Scaled) -> f64 {
        number.mantissa as f64 * 2_f64.powi(-number.exponent)
    }

    #[test]
    fn words_are_one_number() {
        for (high, low) in
            [(0, 7), (3, 1 << 40), ((1 << 31) - 1, u64::from(u32::MAX)), (1 << 31, 5), (1 << 62, 1 << 62)]
        {
            let exact = (high as f64 * 2_f64.powi(32) + low as f64) / 8.0;
            let found = value(Scaled::of_words(high, low, 3));
            assert!((found - exact).abs() <= exact * 1e-9, "{high} {low}: {found} and not {exact}");
        }
    }

    #[test]
    fn sums_keep_the_greater_number() {
        for float in [1e-12_f32, 1e-6, 0.75, 3e5] {
            let other = Scaled::of_float_bits(float.to_bits());
            assert_eq!(value(other) as f32, float);
            for (mantissa, exponent) in [(0, 60), (12345, 3), (1 << 62, 90), (1 << 40, -20), (7, 200)] {
                let number = Scaled { mantissa, exponent };
                let exact = value(number) + f64::from(float);
                let got = value(number.with(other, true));
                assert!((got - exact).abs() <= exact * 1e-6, "{mantissa} {exponent} {float}: {got} and not {exact}");
            }
        }
    }
}

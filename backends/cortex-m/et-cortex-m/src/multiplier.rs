//! The factors of requantization, and the constants of channels.

use et_record::records;

records! {
    /// A positive or negative factor.
    #[repr(C)]
    #[derive(Eq)]
    pub struct Multiplier {
        /// The factor as Q31.
        pub multiplier: i32,
        /// The power of two.
        pub shift: i32,
    }

    /// The constants of an output channel.
    #[repr(C)]
    #[derive(Eq)]
    pub struct Channel {
        /// What the accumulator begins with.
        pub bias: i32,
        /// The factor of the accumulator.
        pub factor: Multiplier,
    }

    /// The limits of an int16 result.
    pub struct Limits {
        /// The smallest integer.
        pub least: i32,
        /// The greatest integer.
        pub most: i32,
    }

    /// The constants of an output channel with int16 results ([`crate::requantize::shifted_product`]).
    #[repr(C)]
    #[derive(Eq)]
    pub struct Channel16 {
        /// What the sum begins with: the lower word of an int64.
        pub bias_low: u32,
        /// The upper word.
        pub bias_high: i32,
        /// The factor of the sum.
        pub multiplier: i32,
        /// The power of two that the product is divided by.
        pub shift: i32,
    }
}

impl Multiplier {
    /// The factor nearest to a number. Numbers below `2^-31` become 0.
    pub fn of(number: f64) -> Self {
        let (mantissa, mut shift) = split(number);
        // Rounds halves away from zero, as TensorFlow Lite does.
        let scaled = mantissa * 2_147_483_648.0;
        let mut multiplier = (scaled + if scaled < 0.0 { -0.5 } else { 0.5 }) as i64;
        if multiplier.unsigned_abs() == 1 << 31 {
            multiplier /= 2;
            shift += 1;
        }
        if shift < -31 { Self::default() } else { Self { multiplier: multiplier as i32, shift } }
    }
}

impl Channel16 {
    /// The constants of a channel.
    pub const fn new(bias: i64, multiplier: i32, shift: i32) -> Self {
        Self { bias_low: bias as u32, bias_high: (bias >> 32) as i32, multiplier, shift }
    }

    /// What the sum begins with.
    pub const fn bias(&self) -> i64 {
        (self.bias_high as i64) << 32 | self.bias_low as i64
    }
}

/// A number as mantissa and exponent: `mantissa * 2^exponent` with `0.5 <= |mantissa| < 1`, or zeros.
fn split(number: f64) -> (f64, i32) {
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    if exponent == 0 || exponent == 0x7ff {
        // Subnormal numbers are far below what a multiplier expresses.
        return (0.0, 0);
    }
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52), exponent - 1022)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_near_their_numbers() {
        for number in [1.0, 0.5, 0.999_999_999_9, 0.003_921_6, 123.456, -0.25, 1e-9, 0.0] {
            let Multiplier { multiplier, shift } = Multiplier::of(number);
            let got = f64::from(multiplier) * 2_f64.powi(shift - 31);
            assert!((got - number).abs() <= number.abs() * 1e-9, "{number} {got}");
        }
        assert_eq!(Multiplier::of(1.0), Multiplier { multiplier: 1 << 30, shift: 1 });
        assert_eq!(Multiplier::of(1e-12), Multiplier::default());
    }
}

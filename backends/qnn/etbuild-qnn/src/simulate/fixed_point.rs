//! The arithmetic of integer results: multipliers of few bits, and shifts.

/// The bits below the step of the result that an accumulator keeps.
const KEPT: i32 = 4;

/// The factor from the accumulator of a convolution to the result: a mantissa of 12 bits and a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rescale {
    /// From 2,048 to 4,096.
    mantissa: i64,
    /// The bits that the accumulator loses; it gains bits where the number is negative.
    shift: i32,
}

impl Rescale {
    /// The nearest to a factor.
    pub fn of(factor: f64) -> Self {
        let exponent = factor.log2().floor() as i32;
        Self { mantissa: (factor * 2.0_f64.powi(11 - exponent)).round() as i64, shift: -exponent - KEPT }
    }

    /// The result for an accumulator, without the zero point. The accumulator is cut, for which half of the last kept bit makes up.
    pub const fn apply(self, accumulator: i64) -> i64 {
        let kept = if self.shift >= 0 { accumulator >> self.shift } else { accumulator << -self.shift };
        ((2 * kept + 1) * self.mantissa + (1 << 15)) >> 16
    }
}

/// A sum of two operands with their own scales: `(left multiplier + right multiplier + offset) >> shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    multipliers: [i64; 2],
    offset: i64,
    shift: i32,
}

/// The largest shift of a sum.
const LARGEST_SHIFT: i32 = 15;

impl Sum {
    /// The sum for the ratios of the operands' scales to the result's, and the zero points of the operands and of the result. `sign` is -1 for a
    /// difference.
    pub fn of(ratios: [f64; 2], [left, right, zero]: [i64; 3], sign: i64) -> Self {
        let magnitude = if sign < 0 { ratios[0].max(ratios[1]) } else { ratios[0] + ratios[1] };
        let shift = (13 - magnitude.log2().floor() as i32).min(LARGEST_SHIFT);
        let [first, second] = ratios.map(|ratio| (ratio * 2.0_f64.powi(shift)).round() as i64);
        let second = second * sign;
        let exact = power(shift, zero) + power(shift - 1, 1) - first * left - second * right;
        // The offset is a number of 16 bits in steps of 256, and wraps.
        let steps = ((exact + 128) >> 8) as i16;
        Self { multipliers: [first, second], offset: i64::from(steps) << 8, shift }
    }

    /// The result for two operands, with the zero point.
    pub fn apply(self, left: i64, right: i64) -> i64 {
        let sum = left * self.multipliers[0] + right * self.multipliers[1] + self.offset;
        if self.shift >= 0 { sum >> self.shift } else { sum << -self.shift }
    }
}

/// A sum of two operands of 16 bits with their own scales: `(left multiplier + right multiplier) >> shift`, rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordSum {
    multipliers: [i64; 2],
    shift: i32,
}

impl WordSum {
    /// The sum for the ratios of the operands' scales to the result's; `sign` is -1 for a difference.
    pub fn of(ratios: [f64; 2], sign: i64) -> Self {
        let shift = 15 - (ratios[0] + ratios[1]).log2().floor() as i32;
        let [first, second] = ratios.map(|ratio| (ratio * 2.0_f64.powi(shift)).round() as i64);
        Self { multipliers: [first, second * sign], shift }
    }

    /// The result for two operands, all without their zero points.
    pub const fn apply(self, left: i64, right: i64) -> i64 {
        let sum = left * self.multipliers[0] + right * self.multipliers[1];
        if self.shift > 0 { (sum + (1 << (self.shift - 1))) >> self.shift } else { sum << -self.shift }
    }
}

/// `number * 2^exponent`, rounded down.
const fn power(exponent: i32, number: i64) -> i64 {
    if exponent >= 0 { number << exponent } else { number >> -exponent }
}

/// The factor from a product of two operands to the result: 15 bits and a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    multiplier: i64,
    shift: i32,
}

impl Product {
    /// The nearest to a factor.
    pub fn of(factor: f64) -> Self {
        let shift = 14 - factor.log2().floor() as i32;
        Self { multiplier: (factor * 2.0_f64.powi(shift)).round() as i64, shift: shift - 14 }
    }

    /// The result for a product, without the zero point.
    pub const fn apply(self, product: i64) -> i64 {
        let rounded = (product * self.multiplier + (1 << 13)) >> 14;
        if self.shift > 0 { (rounded + (1 << (self.shift - 1))) >> self.shift } else { rounded << -self.shift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the result of the vendor's simulator steps, for the factor 0.0073 times 1: accumulators are multiples of 16 there.
    #[test]
    fn a_convolution_steps_where_the_vendors_does() {
        let rescale = Rescale::of(0.0073);
        let steps = |result: i64| (0..).find(|accumulator| rescale.apply(*accumulator) == result).unwrap();
        assert_eq!([1, 2, 3, 4, 5, 6].map(steps), [64, 208, 336, 480, 624, 752]);
    }

    #[test]
    fn a_sum_has_the_offset_of_the_vendors() {
        let sum = Sum::of([0.609, 1.205], [136, 138, 152], -1);
        assert_eq!((sum.multipliers, sum.offset % 256, sum.shift), ([4989, -9871], 0, 13));
        assert_eq!(sum.apply(136, 138), 152);
    }
}

//! Unevaluated sums of two numbers: about twice the precision of the format (Dekker, 1971; Knuth, TAOCP 2, 4.2.2).

use super::Format;

/// `high + low`, where `low` is at most half a unit in the last place of `high`.
#[derive(Clone, Copy)]
pub struct Pair<F> {
    /// The sum, rounded.
    pub high: F,
    /// The rounding error.
    pub low: F,
}

impl<F: Format> Pair<F> {
    /// A number.
    pub fn from(high: F) -> Self {
        Self { high, low: F::ZERO }
    }

    /// `left + right`, exactly.
    pub fn sum(left: F, right: F) -> Self {
        let high = left + right;
        let of_right = high - left;
        Self { high, low: (left - (high - of_right)) + (right - of_right) }
    }

    /// `left * right`, exact unless the product under- or overflows.
    pub fn product(left: F, right: F) -> Self {
        let high = left * right;
        let ([a, b], [c, d]) = (halves(left), halves(right));
        Self { high, low: ((a * c - high) + a * d + b * c) + b * d }
    }

    /// `self + other`.
    pub fn plus(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        Self::sum(sum.high, sum.low + (self.low + other.low))
    }

    /// `self * other`.
    pub fn times(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        Self::sum(product.high, product.low + (self.high * other.low + self.low * other.high))
    }

    /// `number / self`.
    pub fn divides(self, number: F) -> Self {
        let quotient = number / self.high;
        let back = Self::product(quotient, self.high);
        let rest = (number - back.high) - back.low - quotient * self.low;
        Self::sum(quotient, rest / self.high)
    }
}

/// Two numbers of half the bits each whose sum this is (Veltkamp).
fn halves<F: Format>(number: F) -> [F; 2] {
    let factor = F::power_of_two((F::FRACTION + 1).div_ceil(2) as i32) + F::ONE;
    let scaled = factor * number;
    let high = scaled - (scaled - number);
    [high, number - high]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_loses_nothing() {
        let (left, right) = (1.234_567_9_f32, 9.876_543_f32);
        let product = Pair::product(left, right);
        assert_eq!(f64::from(product.high) + f64::from(product.low), f64::from(left) * f64::from(right));
    }

    #[test]
    fn a_quotient_has_twice_the_bits() {
        let quotient = Pair::from(3.0_f32).divides(1.0);
        let error = f64::from(quotient.high) + f64::from(quotient.low) - 1.0 / 3.0;
        assert!(error.abs() < 2.0_f64.powi(-46), "{error}");
    }
}

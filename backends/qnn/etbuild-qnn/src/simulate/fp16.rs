//! Softmax in fp16: differences of few bits, and a reciprocal by one step of Newton's method.

use et_core::Half;

/// `exp(x) / sum(exp(x))` of a row.
pub fn shares(row: &[f64]) -> Vec<f64> {
    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = row.iter().map(|number| half((-distance(*number, most)).exp())).collect();
    let factor = reciprocal(powers.iter().sum());
    powers.into_iter().map(|power| cut(power * factor)).collect()
}

/// A positive number, rounded down to fp16.
fn cut(number: f64) -> f64 {
    let step = 2.0_f64.powi(exponent(number) - 10);
    (number / step).floor() * step
}

fn half(number: f64) -> f64 {
    f64::from(Half::from_f32(number as f32).to_f32())
}

/// The exponent of the power of two below a number's magnitude, in the range of fp16.
fn exponent(number: f64) -> i32 {
    number.abs().max(2.0_f64.powi(-14)).log2().floor() as i32
}

/// `most - number`, in steps of the larger operand, of which multiples of 4 become a neighbour. Halves round up for operands of one sign,
/// and down for operands of different signs. A difference of 2,048 steps or more is an odd multiple of 2.
fn distance(number: f64, most: f64) -> f64 {
    let step = 2.0_f64.powi(exponent(number).max(exponent(most)) - 10);
    let exact = (most - number) / step;
    if exact == 0.0 {
        return 0.0;
    }
    if exact >= 2048.0 {
        return (2.0 * ((exact / 2.0 - 1.0) / 2.0).round_ties_even() + 1.0) * 2.0 * step;
    }
    let is_one_sign = number * most > 0.0;
    let nearest = if is_one_sign { (exact + 0.5).floor() } else { (exact - 0.5).ceil() };
    let rises = exact > nearest || (exact == nearest && !is_one_sign);
    let odd = if rises { nearest + 1.0 } else { nearest - 1.0 };
    (if nearest % 4.0 == 0.0 { odd } else { nearest }) * step
}

/// `1 / number`, 0.1 % too small on average: a line on each side of the square root of 2, and one step of Newton's method.
fn reciprocal(number: f64) -> f64 {
    let power = 2.0_f64.powi(exponent(number));
    let part = number / power;
    let line = if part * part < 2.0 { 1.582_525 - 0.607_618 * part } else { 1.313_177 - 0.417_638 * part };
    line * (2.0 - part * line) / power
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares of the vendor's simulator for equal scores.
    #[test]
    fn shares_of_equal_scores_are_near_the_vendors() {
        for (count, share) in [(1, 0.998_535), (3, 0.333_008), (5, 0.199_707), (13, 0.076_782), (31, 0.032_196)] {
            let found = shares(&vec![0.5; count])[0];
            assert!((found / share - 1.0).abs() < 1.5e-3, "{count}: {found}");
        }
    }

    #[test]
    fn differences_are_no_multiples_of_four_steps() {
        let steps = |difference: f64| distance(5.0 - difference / 256.0, 5.0) * 256.0;
        assert_eq!([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 60.0, 64.0].map(steps), [0.0, 1.0, 2.0, 3.0, 3.0, 5.0, 59.0, 63.0]);
    }
}

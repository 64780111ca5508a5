//! Multiplication with a factor and a shift to the right, in the ways of rounding that the NPUs have.

/// How a shift to the right rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Twice: at bit 31, halves up, then the rest, halves away from zero. The rule of TensorFlow Lite.
    Double,
    /// Twice, and halves up both times.
    DoubleUp,
    /// Once, halves up.
    Natural,
    /// Once, halves away from zero.
    Symmetric,
    /// Towards zero.
    Truncate,
    /// Towards the lower integer.
    Down,
}

/// A scale: `value * factor >> shift`, rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The factor, of up to 32 bits.
    pub factor: i64,
    /// The bits of the shift, up to 63.
    pub shift: u32,
    /// How the shift rounds.
    pub rounding: Rounding,
    /// The bits that the value has been shifted to the left before, which the first of two roundings counts.
    pub shifted: u32,
}

/// The bit at which the first of two roundings is.
const FIRST: u32 = 31;

impl Scale {
    /// The scale that leaves values as they are.
    pub const UNIT: Self = Self::new(1, 0, Rounding::Natural);

    /// A scale of values that have not been shifted before.
    pub const fn new(factor: i64, shift: u32, rounding: Rounding) -> Self {
        Self { factor, shift, rounding, shifted: 0 }
    }

    /// The scaled value, modulo 2^64.
    pub fn apply(self, value: i64) -> i64 {
        let product = i128::from(value) * i128::from(self.factor);
        let first = self.shift.min(FIRST.saturating_sub(self.shifted));
        let rest = self.shift - first;
        let rounded = match self.rounding {
            Rounding::Double => symmetric(up(product, first), rest),
            Rounding::DoubleUp => up(up(product, first), rest),
            Rounding::Natural => up(product, self.shift),
            Rounding::Symmetric => symmetric(product, self.shift),
            Rounding::Truncate => product / (1 << self.shift),
            Rounding::Down => product >> self.shift,
        };
        rounded as i64
    }
}

/// Halves up.
const fn up(value: i128, shift: u32) -> i128 {
    (value + half(shift)) >> shift
}

/// Halves away from zero.
const fn symmetric(value: i128, shift: u32) -> i128 {
    let magnitude = (value.abs() + half(shift)) >> shift;
    if value < 0 { -magnitude } else { magnitude }
}

const fn half(shift: u32) -> i128 {
    (1 << shift) >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_differ_by_the_way_of_rounding() {
        let shifted = |rounding| [-6, -2, 2, 6].map(|value| Scale::new(1, 2, rounding).apply(value));
        assert_eq!(shifted(Rounding::Natural), [-1, 0, 1, 2]);
        assert_eq!(shifted(Rounding::Double), [-1, 0, 1, 2]);
        assert_eq!(shifted(Rounding::Symmetric), [-2, -1, 1, 2]);
        assert_eq!(shifted(Rounding::Truncate), [-1, 0, 0, 1]);
        assert_eq!(shifted(Rounding::Down), [-2, -1, 0, 1]);
    }

    #[test]
    fn the_second_rounding_is_symmetric_or_up() {
        let twice = |rounding| [-3, 3].map(|value| Scale::new(1 << 30, 32, rounding).apply(value));
        assert_eq!(twice(Rounding::Double), [-1, 1]);
        assert_eq!(twice(Rounding::DoubleUp), [0, 1]);
        assert_eq!(twice(Rounding::Natural), [-1, 1]);
    }
}

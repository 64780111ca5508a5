//! Scales and zero points from ranges, as torch.ao computes them.

/// The integers that real numbers become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The least.
    pub lowest: i64,
    /// The greatest.
    pub highest: i64,
}

/// A real number is `(integer - zero_point) * scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The distance between neighbours.
    pub scale: f32,
    /// What 0 becomes.
    pub zero_point: i64,
}

/// No scale is smaller, so that nothing is divided by zero: the distance from 1 to the next number, as in torch.ao.
pub const SMALLEST_SCALE: f32 = f32::EPSILON;

impl Bounds {
    /// Activations of 8 bits.
    pub const ACTIVATION: Self = Self { lowest: -128, highest: 127 };
    /// Weights of 8 bits: the same distance on both sides of 0.
    pub const WEIGHT8: Self = Self { lowest: -127, highest: 127 };
    /// Weights of 4 bits.
    pub const WEIGHT4: Self = Self { lowest: -8, highest: 7 };
    /// Rows of embedding tables of 8 bits.
    pub const ROW8: Self = Self { lowest: -128, highest: 127 };

    fn steps(self) -> f32 {
        (self.highest - self.lowest) as f32
    }
}

impl Parameters {
    /// For activations within these ends: 0 is exact, and both ends are met.
    pub fn asymmetric(least: f32, greatest: f32, bounds: Bounds) -> Self {
        let (least, greatest) = (least.min(0.0), greatest.max(0.0));
        let width = (greatest - least).min(f32::MAX);
        let scale = (width / bounds.steps()).max(SMALLEST_SCALE);
        let zero_point = bounds.lowest - (least / scale).round_ties_even() as i64;
        Self { scale, zero_point: zero_point.clamp(bounds.lowest, bounds.highest) }
    }

    /// For weights within these ends: 0 becomes 0, and neither end is cut off.
    pub fn symmetric(least: f32, greatest: f32, bounds: Bounds) -> Self {
        let below = least.min(0.0) / bounds.lowest as f32;
        let above = greatest.max(0.0) / bounds.highest as f32;
        Self { scale: below.max(above).max(SMALLEST_SCALE), zero_point: 0 }
    }

    /// The integer that a real number becomes.
    #[inline]
    pub fn quantize(self, real: f32, bounds: Bounds) -> i64 {
        let integer = (real * (1.0 / self.scale)).round_ties_even() as i64;
        integer.saturating_add(self.zero_point).clamp(bounds.lowest, bounds.highest)
    }

    /// The real number that an integer stands for.
    #[inline]
    pub fn dequantize(self, integer: i64) -> f32 {
        (integer - self.zero_point) as f32 * self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `torch.ao.quantization.MinMaxObserver` computes for these ends with bounds -128 and 127.
    const TORCH: [(f32, f32, f32, i64); 6] = [
        (-7.3, 5.1, 0.048_627_45, 22),
        (-1.0, 3.0, 0.015_686_275, -64),
        (0.5, 2.0, 0.007_843_138, -128),
        (-2.5, -0.5, 0.009_803_922, 127),
        (0.0, 0.0, 1.192_092_9e-7, -128),
        (-0.3, 0.7, 0.003_921_569, -52),
    ];

    #[test]
    fn activations_get_the_parameters_that_torch_gives() {
        for (least, greatest, scale, zero_point) in TORCH {
            let found = Parameters::asymmetric(least, greatest, Bounds::ACTIVATION);
            assert_eq!(found.zero_point, zero_point, "{least} {greatest}");
            assert!((found.scale / scale - 1.0).abs() < 1e-6, "{} {scale}", found.scale);
        }
    }

    #[test]
    fn zero_is_exact() {
        for (least, greatest, ..) in TORCH {
            let found = Parameters::asymmetric(least, greatest, Bounds::ACTIVATION);
            assert_eq!(found.dequantize(found.quantize(0.0, Bounds::ACTIVATION)), 0.0);
        }
    }

    #[test]
    fn weights_are_not_cut_off() {
        let found = Parameters::symmetric(-4.0, 7.0, Bounds::WEIGHT4);
        assert_eq!(
            (found.scale, found.quantize(7.0, Bounds::WEIGHT4), found.quantize(-4.0, Bounds::WEIGHT4)),
            (1.0, 7, -4)
        );
        assert_eq!(Parameters::symmetric(0.0, 0.0, Bounds::WEIGHT8).scale, SMALLEST_SCALE);
    }
}

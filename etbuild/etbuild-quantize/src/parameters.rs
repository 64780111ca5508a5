//! qparams from ranges, with the formulas of torch.ao.

/// An integer range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The smallest integer.
    pub lowest: i64,
    /// The largest integer.
    pub highest: i64,
}

/// qparams: an integer represents the value `(integer - zero_point) * scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The distance between neighbouring values.
    pub scale: f32,
    /// The integer of 0.0.
    pub zero_point: i64,
}

/// The smallest scale, which avoids division by zero: `eps` of torch.ao, the machine epsilon.
pub const SMALLEST_SCALE: f32 = f32::EPSILON;

impl Bounds {
    /// int8 activations.
    pub const ACTIVATION: Self = Self { lowest: -128, highest: 127 };
    /// int8 activations with the zero point 0.
    pub const SYMMETRIC8: Self = Self { lowest: -127, highest: 127 };
    /// int16 activations.
    pub const ACTIVATION16: Self = Self { lowest: -32_768, highest: 32_767 };
    /// int16 activations with the zero point 0.
    pub const SYMMETRIC16: Self = Self { lowest: -32_767, highest: 32_767 };
    /// int8 weights: symmetric.
    pub const WEIGHT8: Self = Self { lowest: -127, highest: 127 };
    /// int4 weights.
    pub const WEIGHT4: Self = Self { lowest: -8, highest: 7 };
    /// Rows of int8 embedding tables.
    pub const ROW8: Self = Self { lowest: -128, highest: 127 };

    fn steps(self) -> f32 {
        (self.highest - self.lowest) as f32
    }
}

impl Parameters {
    /// qparams of activations with this range: symmetric for symmetric bounds.
    pub fn of_activations(least: f32, greatest: f32, bounds: Bounds) -> Self {
        if bounds == Bounds::SYMMETRIC16 {
            Self::symmetric(least, greatest, bounds)
        } else {
            Self::asymmetric(least, greatest, bounds)
        }
    }

    /// qparams of activations with this range: 0.0 and both ends are representable.
    pub fn asymmetric(least: f32, greatest: f32, bounds: Bounds) -> Self {
        let (least, greatest) = (least.min(0.0), greatest.max(0.0));
        let width = (greatest - least).min(f32::MAX);
        let scale = (width / bounds.steps()).max(SMALLEST_SCALE);
        let zero_point = bounds.lowest - (least / scale).round_ties_even() as i64;
        Self { scale, zero_point: zero_point.clamp(bounds.lowest, bounds.highest) }
    }

    /// qparams of weights with this range: symmetric, and both ends are inside.
    pub fn symmetric(least: f32, greatest: f32, bounds: Bounds) -> Self {
        let below = least.min(0.0) / bounds.lowest as f32;
        let above = greatest.max(0.0) / bounds.highest as f32;
        Self { scale: below.max(above).max(SMALLEST_SCALE), zero_point: 0 }
    }

    /// qparams with other bounds for the range that these qparams have with `from`.
    pub fn narrowed(self, from: Bounds, to: Bounds) -> Self {
        Self::asymmetric(self.dequantize(from.lowest), self.dequantize(from.highest), to)
    }

    /// The integer of a value, rounded to nearest even and clamped.
    #[inline]
    pub fn quantize(self, value: f32, bounds: Bounds) -> i64 {
        let integer = (value * (1.0 / self.scale)).round_ties_even() as i64;
        integer.saturating_add(self.zero_point).clamp(bounds.lowest, bounds.highest)
    }

    /// The value of an integer.
    #[inline]
    pub fn dequantize(self, integer: i64) -> f32 {
        (integer - self.zero_point) as f32 * self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of `torch.ao.quantization.MinMaxObserver` for these ranges with `quant_min=-128` and
    /// `quant_max=127`.
    const TORCH: [(f32, f32, f32, i64); 6] = [
        (-7.3, 5.1, 0.048_627_45, 22),
        (-1.0, 3.0, 0.015_686_275, -64),
        (0.5, 2.0, 0.007_843_138, -128),
        (-2.5, -0.5, 0.009_803_922, 127),
        (0.0, 0.0, 1.192_092_9e-7, -128),
        (-0.3, 0.7, 0.003_921_569, -52),
    ];

    #[test]
    fn qparams_of_activations_equal_torchs() {
        for (least, greatest, scale, zero_point) in TORCH {
            let found = Parameters::asymmetric(least, greatest, Bounds::ACTIVATION);
            assert_eq!(found.zero_point, zero_point, "{least} {greatest}");
            assert!((found.scale / scale - 1.0).abs() < 1e-6, "{} {scale}", found.scale);
        }
    }

    #[test]
    fn zero_is_representable() {
        for (least, greatest, ..) in TORCH {
            let found = Parameters::asymmetric(least, greatest, Bounds::ACTIVATION);
            assert_eq!(found.dequantize(found.quantize(0.0, Bounds::ACTIVATION)), 0.0);
        }
    }

    #[test]
    fn weights_are_not_clipped() {
        let found = Parameters::symmetric(-4.0, 7.0, Bounds::WEIGHT4);
        assert_eq!(
            (found.scale, found.quantize(7.0, Bounds::WEIGHT4), found.quantize(-4.0, Bounds::WEIGHT4)),
            (1.0, 7, -4)
        );
        assert_eq!(Parameters::symmetric(0.0, 0.0, Bounds::WEIGHT8).scale, SMALLEST_SCALE);
    }

    #[test]
    fn symmetric_bounds_have_the_zero_point_0() {
        let found = Parameters::of_activations(-1.0, 65_534.0, Bounds::SYMMETRIC16);
        assert_eq!((found.scale, found.zero_point), (2.0, 0));
    }
}

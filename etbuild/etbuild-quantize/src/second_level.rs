//! Second-level scales: the scales of a row are multiples of a float, so that backends store a multiple of 8 or 4 bits per
//! block.

/// The low mantissa bits that are 0, so that multiples are exact in `float32`.
const SPARE: u32 = 0xff;

/// The second-level scale of a row.
#[derive(Clone, Copy, Debug)]
pub struct SecondLevelScale {
    scale: f32,
    /// The largest multiple, which the largest scale of a row has.
    most: f32,
}

impl SecondLevelScale {
    /// The second-level scale for the block scales of a row, with multiples up to `most`. Rounded up, so that no weight is clipped.
    pub fn of(scales: &[f32], most: u8) -> Self {
        let most = f32::from(most);
        let largest = scales.iter().fold(0.0, |largest: f32, scale| largest.max(*scale));
        let bits = (largest / most).to_bits();
        Self { scale: f32::from_bits((bits + SPARE) & !SPARE), most }
    }

    /// The nearest multiple, at least the scale itself.
    pub fn nearest(self, scale: f32) -> f32 {
        self.scale * (scale / self.scale).round_ties_even().clamp(1.0, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_exact_multiples_and_the_largest_is_255_times_the_second_level() {
        for seed in 1..2000_u32 {
            let scales: Vec<f32> =
                (1..20).map(|index| (seed.wrapping_mul(index * 7919) % 1009 + 1) as f32 / 3e4).collect();
            let step = SecondLevelScale::of(&scales, 255);
            let fitted: Vec<f32> = scales.iter().map(|scale| step.nearest(*scale)).collect();
            let largest = fitted.iter().fold(0.0, |largest: f32, scale| largest.max(*scale));
            assert_eq!((largest, largest / 255.0), (step.scale * 255.0, step.scale));
            for (scale, fitted) in scales.iter().zip(fitted) {
                let count = f64::from(fitted) / f64::from(step.scale);
                assert!(count.fract() == 0.0 && (1.0..=255.0).contains(&count), "{count}");
                assert!((scale - fitted).abs() <= 0.5001 * step.scale || count == 1.0, "{scale} {fitted}");
            }
        }
    }

    #[test]
    fn a_scale_is_at_least_the_second_level_scale() {
        let step = SecondLevelScale::of(&[1e-6, 1.0], 255);
        assert_eq!((step.nearest(1e-6), step.nearest(1.0)), (step.scale, step.scale * 255.0));
    }
}

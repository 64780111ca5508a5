//! Second-level scales: the scales of a row are multiples of a float, so that backends store an 8-bit multiple per
//! block.

/// The largest multiple: the largest scale of a row is 255 times the second-level scale.
const MOST: f32 = 255.0;

/// The low mantissa bits that are 0, so that multiples are exact in `float32`.
const SPARE: u32 = 0xff;

/// The second-level scale of a row.
#[derive(Clone, Copy, Debug)]
pub struct SecondLevelScale(f32);

impl SecondLevelScale {
    /// The second-level scale for the block scales of a row. Rounded up, so that no weight is clipped.
    pub fn of(scales: &[f32]) -> Self {
        let largest = scales.iter().fold(0.0, |largest: f32, scale| largest.max(*scale));
        let bits = (largest / MOST).to_bits();
        Self(f32::from_bits((bits + SPARE) & !SPARE))
    }

    /// The nearest multiple, from 1 to 255.
    pub fn nearest(self, scale: f32) -> f32 {
        self.0 * (scale / self.0).round_ties_even().clamp(1.0, MOST)
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
            let step = SecondLevelScale::of(&scales);
            let fitted: Vec<f32> = scales.iter().map(|scale| step.nearest(*scale)).collect();
            let largest = fitted.iter().fold(0.0, |largest: f32, scale| largest.max(*scale));
            assert_eq!((largest, largest / MOST), (step.0 * MOST, step.0));
            for (scale, fitted) in scales.iter().zip(fitted) {
                let count = f64::from(fitted) / f64::from(step.0);
                assert!(count.fract() == 0.0 && (1.0..=255.0).contains(&count), "{count}");
                assert!((scale - fitted).abs() <= 0.5001 * step.0 || count == 1.0, "{scale} {fitted}");
            }
        }
    }

    #[test]
    fn a_scale_is_at_least_the_second_level_scale() {
        let step = SecondLevelScale::of(&[1e-6, 1.0]);
        assert_eq!((step.nearest(1e-6), step.nearest(1.0)), (step.0, step.0 * MOST));
    }
}

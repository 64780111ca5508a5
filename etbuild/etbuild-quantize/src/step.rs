//! Scales of a row as whole multiples of one number, so that a byte says which: engines store that instead of the scale.

/// The most steps of a scale; the largest of a row has so many.
const MOST: f32 = 255.0;

/// The last bits of a `float32` that a step does not have: its multiples are exact.
const SPARE: u32 = 0xff;

/// What the scales of a row are multiples of.
#[derive(Clone, Copy, Debug)]
pub struct Step(f32);

impl Step {
    /// That of a row of scales. It is rounded up, so that nothing is cut off.
    pub fn of(scales: &[f32]) -> Self {
        let largest = scales.iter().fold(0.0, |largest: f32, scale| largest.max(*scale));
        let bits = (largest / MOST).to_bits();
        Self(f32::from_bits((bits + SPARE) & !SPARE))
    }

    /// The nearest multiple, from 1 to 255 times.
    pub fn nearest(self, scale: f32) -> f32 {
        self.0 * (scale / self.0).round_ties_even().clamp(1.0, MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_exact_multiples_of_what_the_largest_is_255_times() {
        for seed in 1..2000_u32 {
            let scales: Vec<f32> =
                (1..20).map(|index| (seed.wrapping_mul(index * 7919) % 1009 + 1) as f32 / 3e4).collect();
            let step = Step::of(&scales);
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
    fn a_scale_is_at_least_a_step() {
        let step = Step::of(&[1e-6, 1.0]);
        assert_eq!((step.nearest(1e-6), step.nearest(1.0)), (step.0, step.0 * MOST));
    }
}

//! Resampling by a windowed sinc: the filter of `torchaudio.functional.resample` with its defaults.

use std::f64::consts::PI;

/// The zero crossings of the sinc on each side.
const CROSSINGS: f64 = 6.0;

/// The cutoff as a share of the lower Nyquist frequency.
const ROLLOFF: f64 = 0.99;

/// The most samples of a result.
const MOST_SAMPLES: u64 = 1 << 30;

/// The samples at `to` hertz.
///
/// # Errors
/// A result of more than [`MOST_SAMPLES`].
pub fn resample(samples: &[f32], from: u32, to: u32) -> Result<Vec<f32>, String> {
    if from == to {
        return Ok(samples.to_vec());
    }
    let divisor = greatest_common_divisor(from, to).max(1);
    let (from, to) = (u64::from(from / divisor), u64::from(to / divisor));
    let count = (samples.len() as u64 * to).div_ceil(from.max(1));
    if from == 0 || to == 0 || count > MOST_SAMPLES {
        return Err("its sampling rate cannot be converted to the model's".to_owned());
    }
    let phases: Vec<Phase> = (0..to.min(count)).map(|phase| Phase::new(phase, from as f64, to as f64)).collect();
    let sample = |index: u64| {
        let (block, phase) = (index / to, index % to);
        phases.get(phase as usize).map_or(0.0, |phase| phase.apply(samples, (block * from) as i64))
    };
    Ok((0..count).map(sample).collect())
}

/// The weights of the samples around an output sample: every `to`-th output sample has the same.
struct Phase {
    /// The first sample with a weight, from the first sample of the block.
    first: i64,
    weights: Vec<f32>,
}

impl Phase {
    /// The weights of output sample `phase` of a block of `from` samples, which becomes `to` samples.
    fn new(phase: u64, from: f64, to: f64) -> Self {
        let cutoff = from.min(to) * ROLLOFF;
        let width = (CROSSINGS * from / cutoff).ceil() as i64;
        let time = |index: i64| ((index as f64 / from - phase as f64 / to) * cutoff).clamp(-CROSSINGS, CROSSINGS);
        let is_inside = |index: &i64| time(*index).abs() < CROSSINGS;
        let last = width + from as i64;
        let first = (-width..last).find(is_inside).unwrap_or(0);
        let inside = (first..last).take_while(is_inside);
        let weight = |index: i64| {
            let window = (time(index) * PI / CROSSINGS / 2.0).cos().powi(2);
            (sinc(time(index) * PI) * window * cutoff / from) as f32
        };
        Self { first, weights: inside.map(weight).collect() }
    }

    /// The output sample for the block that begins at sample `start`; samples outside of the recording are 0.
    fn apply(&self, samples: &[f32], start: i64) -> f32 {
        let first = start + self.first;
        let skipped = usize::try_from(-first).unwrap_or(0);
        let samples = samples.get(usize::try_from(first).unwrap_or(0)..).unwrap_or_default();
        let pairs = self.weights.iter().skip(skipped).zip(samples);
        pairs.map(|(weight, sample)| f64::from(weight * sample)).sum::<f64>() as f32
    }
}

fn sinc(angle: f64) -> f64 {
    if angle == 0.0 { 1.0 } else { angle.sin() / angle }
}

fn greatest_common_divisor(left: u32, right: u32) -> u32 {
    if right == 0 { left } else { greatest_common_divisor(right, left % right) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tone_below_both_limits_keeps_its_frequency() {
        let tone = |rate: f64, count: usize| -> Vec<f32> {
            (0..count).map(|index| (2.0 * PI * 440.0 * index as f64 / rate).sin() as f32).collect()
        };
        let found = resample(&tone(44_100.0, 4410), 44_100, 16_000).unwrap();
        let expected = tone(16_000.0, 1600);
        assert_eq!(found.len(), expected.len());
        // Zeros outside of the recording are heard at its ends.
        let difference = |(left, right): (&f32, &f32)| (left - right).abs();
        let largest = found.iter().zip(&expected).skip(20).take(1560).map(difference).fold(0.0, f32::max);
        assert!(largest < 2e-2, "{largest}");
    }

    #[test]
    fn absurd_rates_are_refused() {
        assert!(resample(&[0.0; 4096], 1, u32::MAX).is_err());
        assert!(resample(&[0.0], 0, 16_000).is_err());
        assert_eq!(resample(&[], 8_000, 16_000), Ok(vec![]));
    }
}

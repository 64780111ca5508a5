//! The cosines and sines of rotary position embedding, computed as by `transformers`: frequencies and angles are
//! rounded to `float32`, and so are the functions of both.

use etbuild_weights::angles;

use crate::{AttentionTemperature, Rotary, Scaling};

/// The elements of the two tables, `[positions, pairs]`: cosines and sines for a context of so many positions.
pub fn tables(rotary: &Rotary, positions: u32) -> [Vec<f32>; 2] {
    let frequencies = frequencies(rotary, positions);
    let magnitude = match rotary.scaling {
        Scaling::ByPair { magnitudes, original, .. } => magnitudes[usize::from(positions as usize > original)] as f32,
        Scaling::ByIndex { magnitude, .. } => magnitude as f32,
        _ => 1.0,
    };
    angles(&frequencies, positions, magnitude)
}

/// Multiplies a table of so many pairs by the factor of each position, which is then the factor of the rotated queries.
pub fn scale_queries(table: &mut [f32], pairs: usize, temperature: AttentionTemperature) {
    for (position, row) in table.chunks_mut(pairs.max(1)).enumerate() {
        let periods = (position / temperature.period.max(1)) as f32;
        let factor = 1.0 + temperature.slope as f32 * (1.0 + periods).ln();
        row.iter_mut().for_each(|element| *element *= factor);
    }
}

/// The frequency of each pair in a context of so many positions.
fn frequencies(rotary: &Rotary, positions: u32) -> Vec<f32> {
    // The frequency of a pair relative to the first pair, rounded as a power of `float32`.
    let power = |pair: usize| {
        let exponent = (2 * pair) as f32 / (2 * rotary.pairs) as f32;
        rotary.theta.powf(f64::from(exponent)) as f32
    };
    let plain = || (0..rotary.pairs).map(|pair| 1.0 / power(pair));
    let divided = |factors: &[f64]| -> Vec<f32> {
        factors.iter().enumerate().map(|(pair, factor)| 1.0 / (*factor as f32 * power(pair))).collect()
    };
    match &rotary.scaling {
        Scaling::None => plain().collect(),
        Scaling::Linear { factor } => plain().map(|frequency| frequency / *factor as f32).collect(),
        Scaling::Proportional { factor, turned } => {
            let turns = |(pair, frequency)| if pair < *turned { frequency / *factor as f32 } else { 0.0 };
            plain().enumerate().map(turns).collect()
        }
        Scaling::ByWavelength { factor, high, low, original } => {
            let stretch = |frequency| stretched(frequency, [*factor, *high, *low, *original]);
            plain().map(stretch).collect()
        }
        Scaling::ByIndex { factor, slope, .. } => {
            (0..rotary.pairs).map(|pair| sloped(pair, power(pair), *factor as f32, *slope)).collect()
        }
        // Keys in the cache keep their rotation, so that one list holds for the whole context: a text that outgrew the first
        // context in the middle would meet keys of the other list.
        Scaling::ByPair { short, long, original, .. } => {
            divided(if positions as usize > *original { long } else { short })
        }
    }
}

/// A frequency with long wavelengths stretched by a factor, short wavelengths kept, and a slope between.
fn stretched(frequency: f32, [factor, high, low, original]: [f64; 4]) -> f32 {
    let wavelength = 2.0 * std::f64::consts::PI / f64::from(frequency);
    if wavelength > original / low {
        (f64::from(frequency) / factor) as f32
    } else if wavelength < original / high {
        frequency
    } else {
        let kept = (original / wavelength - low) / (high - low);
        ((1.0 - kept) * f64::from(frequency) / factor + kept * f64::from(frequency)) as f32
    }
}

/// The frequency of a pair by YaRN: before the slope as it is, behind the slope divided by the factor.
fn sloped(pair: usize, power: f32, factor: f32, [first, last]: [f64; 2]) -> f32 {
    // A slope without a length would be divided by 0.
    let last = if first == last { last + 0.001 } else { last };
    let kept = 1.0 - ((pair as f32 - first as f32) / (last - first) as f32).clamp(0.0, 1.0);
    1.0 / (factor * power) * (1.0 - kept) + 1.0 / power * kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotary(scaling: Scaling) -> Rotary {
        Rotary { theta: 10_000.0, pairs: 2, is_interleaved: false, sections: None, scaling }
    }

    #[test]
    fn a_pair_turns_by_its_frequency_at_each_position() {
        let [cosines, sines] = tables(&rotary(Scaling::None), 3);
        let angles = [0.0, 0.0, 1.0, 0.01, 2.0, 0.02_f64];
        assert_eq!(cosines.len(), 6);
        for (index, angle) in angles.iter().enumerate() {
            assert!((f64::from(cosines[index]) - angle.cos()).abs() < 1e-7);
            assert!((f64::from(sines[index]) - angle.sin()).abs() < 1e-7);
        }
    }

    #[test]
    fn pairs_behind_a_share_do_not_turn() {
        let rotary = Rotary { pairs: 4, ..rotary(Scaling::Proportional { factor: 2.0, turned: 2 }) };
        assert_eq!(frequencies(&rotary, 1), [0.5, 0.05, 0.0, 0.0]);
    }

    #[test]
    fn a_context_longer_than_the_first_has_the_long_factors_at_every_position() {
        let (short, long) = (vec![1.0, 1.0], vec![2.0, 4.0]);
        let rotary = rotary(Scaling::ByPair { short, long, original: 3, magnitudes: [2.0, 4.0] });
        let [cosines, sines] = tables(&rotary, 3);
        assert_eq!([cosines[0], cosines[2], sines[4]], [1.0, 1.0_f64.cos(), 2.0_f64.sin()].map(|x| 2.0 * x as f32));
        let [cosines, sines] = tables(&rotary, 4);
        assert_eq!([cosines[0], cosines[2], sines[4]], [1.0, 0.5_f64.cos(), 1.0_f64.sin()].map(|x| 4.0 * x as f32));
    }

    #[test]
    fn pairs_before_the_slope_stay_and_pairs_behind_it_are_stretched() {
        let scaling = Scaling::ByIndex { factor: 4.0, slope: [0.0, 2.0], magnitude: 1.5 };
        let rotary = Rotary { pairs: 4, ..rotary(scaling) };
        let expected = [1.0, 0.1 * (0.5 + 0.5 / 4.0), 0.01 / 4.0, 0.001 / 4.0];
        let got = frequencies(&rotary, 1);
        assert!(got.iter().zip(expected).all(|(got, expected)| (got / expected - 1.0).abs() < 1e-6), "{got:?}");
        assert_eq!(tables(&rotary, 1)[0], [1.5; 4]);
    }

    #[test]
    fn long_wavelengths_are_stretched_and_short_ones_stay() {
        let scaling = Scaling::ByWavelength { factor: 8.0, high: 4.0, low: 1.0, original: 64.0 };
        assert_eq!(frequencies(&rotary(scaling), 1), [1.0, 0.01_f32 / 8.0]);
    }
}

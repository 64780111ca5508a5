//! The cosines and sines of rotary position embedding, computed as by `transformers`: frequencies and angles are
//! rounded to `float32`, and so are the functions of both.

use crate::{Rotary, Scaling};

/// The elements of the two tables, `[positions, pairs]`: cosines and sines.
pub fn tables(rotary: &Rotary, positions: u32) -> [Vec<f32>; 2] {
    let lists = frequencies(rotary);
    let magnitude = match rotary.scaling {
        Scaling::ByPair { magnitude, .. } => magnitude as f32,
        _ => 1.0,
    };
    let length = positions as usize * rotary.pairs;
    let [mut cosines, mut sines] = [Vec::with_capacity(length), Vec::with_capacity(length)];
    for position in 0..positions {
        for frequency in lists.at(position) {
            let angle = f64::from(position as f32 * frequency);
            cosines.push(angle.cos() as f32 * magnitude);
            sines.push(angle.sin() as f32 * magnitude);
        }
    }
    [cosines, sines]
}

/// The frequency of each pair.
struct Frequencies {
    first: Vec<f32>,
    /// The frequencies from a position on, if different there.
    behind: Option<(usize, Vec<f32>)>,
}

impl Frequencies {
    fn at(&self, position: u32) -> &[f32] {
        match &self.behind {
            Some((from, frequencies)) if position as usize >= *from => frequencies,
            _ => &self.first,
        }
    }
}

fn frequencies(rotary: &Rotary) -> Frequencies {
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
        Scaling::None => Frequencies { first: plain().collect(), behind: None },
        Scaling::Linear { factor } => {
            Frequencies { first: plain().map(|frequency| frequency / *factor as f32).collect(), behind: None }
        }
        Scaling::ByWavelength { factor, high, low, original } => {
            let stretch = |frequency| stretched(frequency, [*factor, *high, *low, *original]);
            Frequencies { first: plain().map(stretch).collect(), behind: None }
        }
        Scaling::ByPair { short, long, original, .. } => {
            Frequencies { first: divided(short), behind: Some((*original, divided(long))) }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rotary(scaling: Scaling) -> Rotary {
        Rotary { theta: 10_000.0, pairs: 2, scaling }
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
    fn positions_behind_the_first_context_have_their_own_factors() {
        let (short, long) = (vec![1.0, 1.0], vec![2.0, 4.0]);
        let [cosines, sines] = tables(&rotary(Scaling::ByPair { short, long, original: 2, magnitude: 2.0 }), 3);
        assert_eq!([cosines[0], cosines[2]], [2.0, 2.0 * 1.0_f64.cos() as f32]);
        assert_eq!(sines[4], 2.0 * 1.0_f64.sin() as f32);
    }

    #[test]
    fn long_wavelengths_are_stretched_and_short_ones_stay() {
        let scaling = Scaling::ByWavelength { factor: 8.0, high: 4.0, low: 1.0, original: 64.0 };
        let Frequencies { first, .. } = frequencies(&rotary(scaling));
        assert_eq!(first, [1.0, 0.01_f32 / 8.0]);
    }
}

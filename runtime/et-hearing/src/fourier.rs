//! The discrete Fourier transform of short signals (Cooley and Tukey 1965), of any length.

use std::f64::consts::TAU;

/// A complex number.
pub type Complex = [f32; 2];

/// The transform of a length.
pub struct Fourier {
    /// The roots of unity, in turn.
    roots: Vec<Complex>,
}

impl Fourier {
    /// The transform of signals with so many numbers.
    pub fn new(length: usize) -> Self {
        let root = |index: usize| {
            let angle = -TAU * index as f64 / length as f64;
            [angle.cos() as f32, angle.sin() as f32]
        };
        Self { roots: (0..length).map(root).collect() }
    }

    /// The squared magnitudes of the transform of `signal`, up to half the length.
    pub fn powers(&self, signal: &[f32], powers: &mut Vec<f32>) {
        let transformed = self.transform(signal, 0, 1);
        let half = self.roots.len() / 2 + 1;
        powers.clear();
        powers.extend(transformed.iter().take(half).map(|[real, imaginary]| real * real + imaginary * imaginary));
    }

    /// The transform of every `step`-th number of a signal from `start` on.
    fn transform(&self, signal: &[f32], start: usize, step: usize) -> Vec<Complex> {
        let count = self.roots.len() / step.max(1);
        let factor = smallest_factor(count);
        if factor == count {
            return self.direct(&every(signal, start, step));
        }
        let parts: Vec<Vec<Complex>> =
            (0..factor).map(|part| self.transform(signal, start + part * step, step * factor)).collect();
        let sum = |index: usize| {
            let terms = parts.iter().enumerate().map(|(part, transformed)| {
                let value = transformed.get(index % (count / factor)).copied().unwrap_or_default();
                times(value, self.root(index * part * step))
            });
            terms.fold([0.0; 2], plus)
        };
        (0..count).map(sum).collect()
    }

    /// The sums of the definition, for a prime number of numbers.
    fn direct(&self, numbers: &[f32]) -> Vec<Complex> {
        let step = self.roots.len() / numbers.len().max(1);
        let sum = |bin: usize| {
            let terms = numbers.iter().enumerate();
            terms.map(|(index, number)| times([*number, 0.0], self.root(bin * index * step))).fold([0.0; 2], plus)
        };
        (0..numbers.len()).map(sum).collect()
    }

    fn root(&self, index: usize) -> Complex {
        self.roots.get(index % self.roots.len().max(1)).copied().unwrap_or_default()
    }
}

/// Every `step`-th number from `start` on.
fn every(signal: &[f32], start: usize, step: usize) -> Vec<f32> {
    signal.iter().skip(start).step_by(step.max(1)).copied().collect()
}

fn smallest_factor(count: usize) -> usize {
    (2..).take_while(|factor| factor * factor <= count).find(|factor| count.is_multiple_of(*factor)).unwrap_or(count)
}

fn times([a, b]: Complex, [c, d]: Complex) -> Complex {
    [a * c - b * d, a * d + b * c]
}

fn plus([a, b]: Complex, [c, d]: Complex) -> Complex {
    [a + c, b + d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_the_definition() {
        for length in [1, 7, 12, 400] {
            let signal: Vec<f32> = (0..length).map(|index| ((index * index) % 11) as f32 - 5.0).collect();
            let (fourier, mut powers) = (Fourier::new(length), Vec::new());
            fourier.powers(&signal, &mut powers);
            for (bin, power) in powers.iter().enumerate() {
                let sum = |wave: fn(f64) -> f64| -> f64 {
                    let terms = signal.iter().enumerate();
                    let angle = |index: usize| TAU * (index * bin) as f64 / length as f64;
                    terms.map(|(index, number)| f64::from(*number) * wave(angle(index))).sum()
                };
                let expected = sum(f64::cos).powi(2) + sum(f64::sin).powi(2);
                assert!((f64::from(*power) - expected).abs() < 1e-3 * (1.0 + expected), "{length}, {bin}");
            }
        }
    }
}

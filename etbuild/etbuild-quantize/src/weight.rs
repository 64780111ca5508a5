//! Weights as integers: symmetric, with a scale for each channel or for each group of a row.

use rayon::prelude::*;

use crate::Observer;
use crate::observer::Extent;
use crate::parameters::{Bounds, Parameters};

/// Integers and their scales.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantized {
    /// In the order of the weights.
    pub integers: Vec<i8>,
    /// One per block, in order.
    pub scales: Vec<f32>,
}

impl Quantized {
    /// The integers as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.integers.iter().map(|integer| integer.cast_unsigned()).collect()
    }

    /// The scales as bytes.
    pub fn scale_bytes(&self) -> Vec<u8> {
        self.scales.iter().flat_map(|scale| scale.to_le_bytes()).collect()
    }
}

/// How scales are chosen.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The integers that weights become.
    pub bounds: Bounds,
    /// How ranges are chosen.
    pub observer: Observer,
    /// What the scale of each block is at least; nothing where there are fewer.
    pub least: &'a [f32],
}

impl Choice<'_> {
    /// Without least scales.
    pub const fn new(bounds: Bounds, observer: Observer) -> Self {
        Self { bounds, observer, least: &[] }
    }
}

/// Quantizes `float32` weights, little-endian, of which `block` neighbours share a scale. `None` where they are not a multiple
/// of that.
pub fn by_blocks(weights: &[u8], block: usize, choice: Choice<'_>) -> Option<Quantized> {
    let (elements, rest) = weights.as_chunks::<4>();
    if block == 0 || !elements.len().is_multiple_of(block) || !rest.is_empty() {
        return None;
    }
    let mut quantized = Quantized { integers: vec![0; elements.len()], scales: vec![0.0; elements.len() / block] };
    let blocks = elements.par_chunks_exact(block).zip(quantized.integers.par_chunks_exact_mut(block));
    blocks.zip(quantized.scales.par_iter_mut()).enumerate().for_each(|(index, ((from, to), scale))| {
        let least = choice.least.get(index).copied().unwrap_or_default();
        let chosen = choose(from, choice.bounds, choice.observer);
        *scale = chosen.scale.max(least);
        write(from, to, Parameters { scale: *scale, zero_point: 0 }, choice.bounds);
    });
    Some(quantized)
}

/// The same for channels that are not the outermost dimension: `sizes` are the numbers of elements outside of it, along it and
/// inside of it.
pub fn by_channels(weights: &[u8], [outer, channels, inner]: [usize; 3], choice: Choice<'_>) -> Option<Quantized> {
    if outer == 1 {
        return by_blocks(weights, inner, choice);
    }
    let (elements, _) = weights.as_chunks::<4>();
    let turned: Vec<[u8; 4]> = (0..channels * outer * inner)
        .filter_map(|at| elements.get(source(at, [outer, channels, inner])).copied())
        .collect();
    let mut found = by_blocks(turned.as_flattened(), outer * inner, choice)?;
    let mut integers = vec![0; found.integers.len()];
    for (at, integer) in found.integers.iter().enumerate() {
        *integers.get_mut(source(at, [outer, channels, inner]))? = *integer;
    }
    found.integers = integers;
    Some(found)
}

/// Where the element at `at` lies, if channels came first.
const fn source(at: usize, [outer, channels, inner]: [usize; 3]) -> usize {
    let (channel, rest) = (at / (outer * inner), at % (outer * inner));
    (rest / inner * channels + channel) * inner + rest % inner
}

/// Parts of the widest range that are tried for the least mean square error.
const PARTS: std::ops::RangeInclusive<u8> = 60..=99;

/// The scale of a block. Ranges of weights are not cut off by percentiles: few weights make a channel.
fn choose(block: &[[u8; 4]], bounds: Bounds, observer: Observer) -> Parameters {
    let Extent { least, greatest } = Extent::of(block.as_flattened());
    let widest = Parameters::symmetric(least, greatest, bounds);
    if observer != Observer::MeanSquare {
        return widest;
    }
    let mut best = (error(block, widest, bounds), widest);
    for part in PARTS.rev().step_by(3) {
        let narrower = Parameters { scale: widest.scale * f32::from(part) / 100.0, zero_point: 0 };
        let found = error(block, narrower, bounds);
        best = if found < best.0 { (found, narrower) } else { best };
    }
    best.1
}

fn error(block: &[[u8; 4]], parameters: Parameters, bounds: Bounds) -> f32 {
    let rounding = Rounding::new(parameters, bounds);
    let square = |bytes: &[u8; 4]| {
        let real = f32::from_le_bytes(*bytes);
        let difference = real - rounding.integer(real) * parameters.scale;
        difference * difference
    };
    block.iter().map(square).sum()
}

fn write(from: &[[u8; 4]], to: &mut [i8], parameters: Parameters, bounds: Bounds) {
    let rounding = Rounding::new(parameters, bounds);
    for (bytes, integer) in from.iter().zip(to) {
        *integer = rounding.integer(f32::from_le_bytes(*bytes)) as i8;
    }
}

/// Rounding in two additions, which compilers make vector instructions of on every processor.
struct Rounding {
    inverse: f32,
    lowest: f32,
    highest: f32,
}

impl Rounding {
    /// One and a half times the first number from which on all are integers: a sum with it is rounded to an even one.
    const COARSE: f32 = 12_582_912.0;

    fn new(parameters: Parameters, bounds: Bounds) -> Self {
        Self { inverse: 1.0 / parameters.scale, lowest: bounds.lowest as f32, highest: bounds.highest as f32 }
    }

    /// The integer, as a number.
    #[inline]
    fn integer(&self, real: f32) -> f32 {
        (real * self.inverse).max(self.lowest).min(self.highest) + Self::COARSE - Self::COARSE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(elements: &[f32]) -> Vec<u8> {
        elements.iter().flat_map(|element| element.to_le_bytes()).collect()
    }

    #[test]
    fn every_channel_has_its_scale() {
        let weights = bytes(&[1.0, -127.0, 0.5, 254.0, 0.0, 0.0]);
        let found = by_blocks(&weights, 2, Choice::new(Bounds::WEIGHT8, Observer::MinMax)).unwrap();
        assert_eq!(found.scales[..2], [1.0, 2.0]);
        assert_eq!(found.integers, [1, -127, 0, 127, 0, 0]);
    }

    #[test]
    fn a_scale_is_not_smaller_than_its_least() {
        let choice = Choice { least: &[0.5, 4.0], ..Choice::new(Bounds::WEIGHT8, Observer::MinMax) };
        let found = by_blocks(&bytes(&[127.0, 127.0, 0.0]), 1, choice).unwrap();
        assert_eq!((&found.scales[..2], &found.integers[..]), (&[1.0, 4.0][..], &[127, 32, 0][..]));
    }

    #[test]
    fn channels_may_be_an_inner_dimension() {
        let weights = bytes(&[1.0, 254.0, -127.0, 2.0]);
        let found = by_channels(&weights, [2, 2, 1], Choice::new(Bounds::WEIGHT8, Observer::MinMax)).unwrap();
        assert_eq!((found.scales, found.integers), (vec![1.0, 2.0], vec![1, 127, -127, 1]));
    }

    #[test]
    fn the_least_error_is_not_larger_than_that_of_the_widest_range() {
        let weights: Vec<f32> = (0..64).map(|number| ((number * 37 % 64) as f32 - 31.5) / 40.0).chain([9.0]).collect();
        let weights = bytes(&weights);
        let loss = |observer| {
            let found = by_blocks(&weights, 65, Choice::new(Bounds::WEIGHT4, observer)).unwrap();
            error(weights.as_chunks().0, Parameters { scale: found.scales[0], zero_point: 0 }, Bounds::WEIGHT4)
        };
        assert!(loss(Observer::MeanSquare) <= loss(Observer::MinMax));
    }
}

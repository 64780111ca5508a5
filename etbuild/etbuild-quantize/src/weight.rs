//! Weights as integers: symmetric, with a scale for each block of neighbours.

use et_core::Half;
use rayon::prelude::*;

use crate::Observer;
use crate::elements::Elements;
use crate::observer::Extent;
use crate::parameters::{Bounds, Parameters};

/// How weights become integers.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The integers that weights become.
    pub bounds: Bounds,
    /// How ranges are chosen.
    pub observer: Observer,
    /// Whether scales are such as `float16` has too.
    pub half_scales: bool,
    /// What the scale of each block is at least; nothing where there are fewer.
    pub least: Vec<f32>,
}

impl Grid {
    /// Without least scales. Those of 4 bits fit `float16`, so that engines may store them with the weights.
    pub fn new(bounds: Bounds, observer: Observer) -> Self {
        Self { bounds, observer, half_scales: bounds == Bounds::WEIGHT4, least: Vec::new() }
    }

    /// The scale of a block. Ranges of weights are not cut off by percentiles: few weights make a channel.
    pub fn choose(&self, block: &[f32]) -> Parameters {
        let Extent { least, greatest } = Extent::of_reals(block);
        let widest = self.fitting(Parameters::symmetric(least, greatest, self.bounds));
        if self.observer != Observer::MeanSquare {
            return widest;
        }
        let mut best = (error(block, widest, self.bounds), widest);
        for part in PARTS.rev().step_by(3) {
            let scale = widest.scale * f32::from(part) / 100.0;
            let narrower = self.fitting(Parameters { scale, zero_point: 0 });
            let found = error(block, narrower, self.bounds);
            best = if found < best.0 { (found, narrower) } else { best };
        }
        best.1
    }

    /// The nearest scale that may be chosen. One that is too large for `float16` stays as it is.
    fn fitting(&self, parameters: Parameters) -> Parameters {
        let half = Half::from_f32(parameters.scale).to_f32();
        let fits = self.half_scales && half.is_finite();
        Parameters { scale: if fits { half } else { parameters.scale }, ..parameters }
    }
}

/// Parts of the widest range that are tried for the least mean square error.
const PARTS: std::ops::RangeInclusive<u8> = 60..=99;

/// About so many elements are one job: their numbers fit the first-level cache.
const JOB: usize = 1 << 12;

/// Quantizes elements, of which `block` neighbours share a scale, on all processors. `first` is the number of blocks that were
/// quantized before. Both results are as long as there are elements and blocks.
pub fn quantize(
    elements: Elements<'_>,
    (block, first): (usize, usize),
    grid: &Grid,
    (integers, scales): (&mut [u8], &mut [f32]),
) {
    let blocks = (JOB / block.max(1)).max(1);
    let jobs = integers.par_chunks_mut(blocks * block.max(1)).zip(scales.par_chunks_mut(blocks)).enumerate();
    jobs.for_each_init(Vec::new, |reals, (job, (integers, scales))| {
        let start = job * blocks;
        elements.part(start * block, integers.len()).widen(reals);
        let each = reals.chunks_exact(block).zip(integers.chunks_exact_mut(block)).zip(scales).zip(first + start..);
        for (((from, to), scale), index) in each {
            let least = grid.least.get(index).copied().unwrap_or_default();
            *scale = grid.choose(from).scale.max(least);
            write(from, to, Parameters { scale: *scale, zero_point: 0 }, grid.bounds);
        }
    });
}

fn error(block: &[f32], parameters: Parameters, bounds: Bounds) -> f32 {
    let rounding = Rounding::new(parameters, bounds);
    let square = |real: &f32| {
        let difference = real - rounding.integer(*real) * parameters.scale;
        difference * difference
    };
    block.iter().map(square).sum()
}

fn write(from: &[f32], to: &mut [u8], parameters: Parameters, bounds: Bounds) {
    let rounding = Rounding::new(parameters, bounds);
    for (real, integer) in from.iter().zip(to) {
        *integer = rounding.byte(*real);
    }
}

/// Rounding in two additions, which compilers make vector instructions of on every processor.
pub struct Rounding {
    inverse: f32,
    lowest: f32,
    highest: f32,
}

impl Rounding {
    /// One and a half times the first number from which on all are integers: a sum with it is rounded to an even one.
    const COARSE: f32 = 12_582_912.0;

    /// To these integers.
    pub fn new(parameters: Parameters, bounds: Bounds) -> Self {
        Self { inverse: 1.0 / parameters.scale, lowest: bounds.lowest as f32, highest: bounds.highest as f32 }
    }

    /// The integer, as a number.
    #[inline]
    pub fn integer(&self, real: f32) -> f32 {
        self.coarse(real) - Self::COARSE
    }

    /// The integer, as the byte that stands for it: the last of a coarse number.
    #[inline]
    pub fn byte(&self, real: f32) -> u8 {
        self.coarse(real).to_bits() as u8
    }

    /// The integer plus [`Self::COARSE`]. What is no number becomes the lowest.
    #[inline]
    fn coarse(&self, real: f32) -> f32 {
        // Comparisons such as processors have them; those of `f32` take three instructions.
        let scaled = real * self.inverse;
        let above = if scaled > self.lowest { scaled } else { self.lowest };
        let within = if above < self.highest { above } else { self.highest };
        within + Self::COARSE
    }
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;

    use super::*;

    fn quantized(reals: &[f32], block: usize, grid: &Grid) -> (Vec<f32>, Vec<i8>) {
        let bytes: Vec<u8> = reals.iter().flat_map(|real| real.to_le_bytes()).collect();
        let (mut integers, mut scales) = (vec![0; reals.len()], vec![0.0; reals.len() / block]);
        let elements = Elements::new(ScalarType::Float, &bytes).unwrap();
        quantize(elements, (block, 0), grid, (&mut integers, &mut scales));
        (scales, integers.into_iter().map(u8::cast_signed).collect())
    }

    #[test]
    fn every_channel_has_its_scale() {
        let grid = Grid::new(Bounds::WEIGHT8, Observer::MinMax);
        let (scales, integers) = quantized(&[1.0, -127.0, 0.5, 254.0, 0.0, 0.0], 2, &grid);
        assert_eq!(scales[..2], [1.0, 2.0]);
        assert_eq!(integers, [1, -127, 0, 127, 0, 0]);
    }

    #[test]
    fn a_scale_is_not_smaller_than_its_least() {
        let grid = Grid { least: vec![0.5, 4.0], ..Grid::new(Bounds::WEIGHT8, Observer::MinMax) };
        let (scales, integers) = quantized(&[127.0, 127.0, 0.0], 1, &grid);
        assert_eq!((&scales[..2], &integers[..]), (&[1.0, 4.0][..], &[127, 32, 0][..]));
    }

    #[test]
    fn jobs_of_any_size_give_the_same() {
        let reals: Vec<f32> = (0..3 * JOB).map(|number| ((number * 7919 % 1009) as f32 - 500.0) / 300.0).collect();
        let grid = Grid::new(Bounds::WEIGHT4, Observer::MinMax);
        let (scales, integers) = quantized(&reals, 32, &grid);
        for (index, block) in reals.chunks(32).enumerate() {
            let (scale, alone) = quantized(block, 32, &grid);
            assert_eq!((scale[0], &alone[..]), (scales[index], &integers[index * 32..][..32]), "{index}");
        }
    }

    #[test]
    fn scales_of_four_bits_are_such_as_half_precision_has() {
        let (scales, _) =
            quantized(&[0.1, -0.3, 1e-5, 0.0, 1e30, 0.0], 2, &Grid::new(Bounds::WEIGHT4, Observer::MinMax));
        assert_eq!(scales[0], Half::from_f32(0.3 / 8.0).to_f32());
        assert_eq!(scales[1], Half::from_f32(1e-5 / 7.0).to_f32());
        assert_eq!(scales[2], 1e30_f32 / 7.0);
    }

    #[test]
    fn the_least_error_is_not_larger_than_that_of_the_widest_range() {
        let reals: Vec<f32> = (0..64).map(|number| ((number * 37 % 64) as f32 - 31.5) / 40.0).chain([9.0]).collect();
        let loss = |observer| {
            let (scales, _) = quantized(&reals, 65, &Grid::new(Bounds::WEIGHT4, observer));
            error(&reals, Parameters { scale: scales[0], zero_point: 0 }, Bounds::WEIGHT4)
        };
        assert!(loss(Observer::MeanSquare) <= loss(Observer::MinMax));
    }
}

//! Weights as integers: symmetric, with a scale for each block of neighbours.

use rayon::prelude::*;

use crate::Observer;
use crate::elements::Elements;
use crate::observer::Extent;
use crate::parameters::{Bounds, Parameters};
use crate::step::Step;

/// How weights become integers.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The integers that weights become.
    pub bounds: Bounds,
    /// How ranges are chosen.
    pub observer: Observer,
    /// How many blocks make a row whose scales are multiples of one [`Step`]; nothing where scales are any.
    pub row: Option<usize>,
    /// What the scale of each block is at least; nothing where there are fewer.
    pub least: Vec<f32>,
}

impl Grid {
    /// Any scales.
    pub const fn new(bounds: Bounds, observer: Observer) -> Self {
        Self { bounds, observer, row: None, least: Vec::new() }
    }

    /// For groups, so many in a row. Scales of 4 bits are multiples of a step, so that engines store them as bytes.
    pub fn of_groups(bounds: Bounds, observer: Observer, row: usize) -> Self {
        Self { row: (bounds == Bounds::WEIGHT4).then_some(row), ..Self::new(bounds, observer) }
    }

    /// Whole rows, where scales depend on the others of their row: how many blocks are quantized together.
    pub fn together(&self) -> usize {
        self.row.unwrap_or(1).max(1)
    }

    /// The scale of a block. Ranges of weights are not cut off by percentiles: few weights make a channel.
    pub fn choose(&self, block: &[f32]) -> Parameters {
        let Extent { least, greatest } = Extent::of_reals(block);
        let widest = Parameters::symmetric(least, greatest, self.bounds);
        if self.observer != Observer::MeanSquare {
            return widest;
        }
        let mut best = (error(block, widest, self.bounds), widest);
        for part in PARTS.rev().step_by(3) {
            let scale = widest.scale * f32::from(part) / 100.0;
            let narrower = Parameters { scale, zero_point: 0 };
            let found = error(block, narrower, self.bounds);
            best = if found < best.0 { (found, narrower) } else { best };
        }
        best.1
    }

    /// The scales of blocks that follow each other, whole rows of them; `first` blocks are ahead.
    pub fn scales(&self, elements: &[f32], (block, first): (usize, usize), scales: &mut [f32]) {
        for ((from, scale), index) in elements.chunks_exact(block).zip(scales.iter_mut()).zip(first..) {
            let least = self.least.get(index).copied().unwrap_or_default();
            *scale = self.choose(from).scale.max(least);
        }
        let Some(row) = self.row else { return };
        for scales in scales.chunks_mut(row.max(1)) {
            let step = Step::of(scales);
            scales.iter_mut().for_each(|scale| *scale = step.nearest(*scale));
        }
    }
}

/// Parts of the widest range that are tried for the least mean square error.
const PARTS: std::ops::RangeInclusive<u8> = 60..=99;

/// About so many elements are one job: their numbers fit the first-level cache.
const JOB: usize = 1 << 12;

/// Quantizes elements, of which `block` neighbours share a scale, on all processors: whole rows where the grid has such. `first` is
/// the number of blocks that were quantized before. Both results are as long as there are elements and blocks.
pub fn quantize(
    elements: Elements<'_>,
    (block, first): (usize, usize),
    grid: &Grid,
    (integers, scales): (&mut [u8], &mut [f32]),
) {
    let together = grid.together();
    let blocks = (JOB / (block * together).max(1)).max(1) * together;
    let jobs = integers.par_chunks_mut(blocks * block.max(1)).zip(scales.par_chunks_mut(blocks)).enumerate();
    jobs.for_each_init(Vec::new, |reals, (job, (integers, scales))| {
        let start = job * blocks;
        elements.part(start * block, integers.len()).widen(reals);
        grid.scales(reals, (block, first + start), scales);
        for ((from, to), scale) in reals.chunks_exact(block).zip(integers.chunks_exact_mut(block)).zip(scales) {
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
        for row in [1, 3, 2 * JOB / 32] {
            let grid = Grid::of_groups(Bounds::WEIGHT4, Observer::MinMax, row);
            let (scales, integers) = quantized(&reals, 32, &grid);
            for (index, elements) in reals.chunks(row * 32).enumerate() {
                let (own, alone) = quantized(elements, 32, &grid);
                assert_eq!(own, scales[index * row..][..own.len()], "{row} {index}");
                assert_eq!(alone, integers[index * row * 32..][..alone.len()], "{row} {index}");
            }
        }
    }

    /// About normally distributed.
    fn normal(count: usize) -> Vec<f32> {
        let mut state = 0x9e37_79b9_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        };
        (0..count).map(|_| (0..12).map(|_| next()).sum::<f32>() - 6.0).collect()
    }

    /// What a number becomes and stands for, as the definition says it.
    fn round_trip(real: f32, scale: f32) -> f32 {
        (real * (1.0 / scale)).round_ties_even().clamp(-8.0, 7.0) * scale
    }

    #[test]
    fn scales_of_groups_are_multiples_of_the_step_of_their_row_and_integers_are_rounded_with_them() {
        let (row, rows) = (32, 70);
        let reals = normal(rows * row * 32);
        let (scales, integers) = quantized(&reals, 32, &Grid::of_groups(Bounds::WEIGHT4, Observer::MinMax, row));
        for (index, scales) in scales.chunks(row).enumerate() {
            let widest = |group: usize| {
                let weights = &reals[(index * row + group) * 32..][..32];
                weights.iter().fold(0.0_f32, |widest, weight| widest.max(weight / 7.0).max(weight / -8.0))
            };
            let largest = (0..row).map(widest).fold(0.0, f32::max);
            let step = scales.iter().copied().fold(0.0, f32::max) / 255.0;
            assert!(largest <= 255.0 * step * (1.0 + f32::EPSILON) && 255.0 * step <= 1.00004 * largest);
            for (group, scale) in scales.iter().enumerate() {
                assert_eq!(*scale, step * (widest(group) / step).round_ties_even(), "{index} {group}");
            }
        }
        for ((real, integer), index) in reals.iter().zip(integers).zip(0..) {
            let scale = scales[index / 32];
            assert_eq!(f32::from(integer) * scale, round_trip(*real, scale));
        }
    }

    #[test]
    fn steps_add_less_than_a_thousandth_to_the_error() {
        let reals = normal(1 << 18);
        let loss = |grid: &Grid| {
            let (scales, integers) = quantized(&reals, 32, grid);
            let each = reals.iter().zip(integers).zip(0..);
            let square = |((real, integer), index): ((&f32, i8), usize)| {
                f64::from(real - f32::from(integer) * scales[index / 32]).powi(2)
            };
            each.map(square).sum::<f64>().sqrt()
        };
        for observer in [Observer::MinMax, Observer::MeanSquare] {
            let any = loss(&Grid::new(Bounds::WEIGHT4, observer));
            let steps = loss(&Grid::of_groups(Bounds::WEIGHT4, observer, 64));
            assert!(steps < 1.001 * any, "{observer:?} {steps} {any}");
        }
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

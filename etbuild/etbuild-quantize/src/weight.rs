//! Quantization of weights: symmetric, with a scale per block of neighbours.

use rayon::prelude::*;

use crate::Observer;
use crate::elements::Elements;
use crate::observer::Extent;
use crate::parameters::{Bounds, Parameters};
use crate::second_level::SecondLevelScale;

/// The integer grid of weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The integer range.
    pub bounds: Bounds,
    /// How ranges are chosen.
    pub observer: Observer,
    /// The number of blocks per row where the scales of a row are multiples of a [`SecondLevelScale`]; `None` for
    /// independent scales.
    pub row: Option<usize>,
    /// The largest multiple of a [`SecondLevelScale`].
    pub most: u8,
    /// The smallest scale of each block; missing entries mean no limit.
    pub least: Vec<f32>,
}

impl Grid {
    /// A grid with independent scales.
    pub const fn new(bounds: Bounds, observer: Observer) -> Self {
        Self { bounds, observer, row: None, most: u8::MAX, least: Vec::new() }
    }

    /// A grid with `row` blocks per row. The scales of int4 blocks are multiples, up to `most`, of a second-level scale.
    pub fn of_groups((bounds, most): (Bounds, u8), observer: Observer, row: usize) -> Self {
        Self { row: (bounds == Bounds::WEIGHT4).then_some(row), most, ..Self::new(bounds, observer) }
    }

    /// The number of blocks whose scales are chosen together.
    pub fn together(&self) -> usize {
        self.row.unwrap_or(1).max(1)
    }

    /// The qparams of a block. Percentiles do not apply to weights: a channel has few weights.
    pub fn choose(&self, block: &[f32]) -> Parameters {
        let Extent { least, greatest } = Extent::of_values(block);
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

    /// The scales of consecutive whole rows of blocks, after `first` blocks.
    pub fn scales(&self, elements: &[f32], (block, first): (usize, usize), scales: &mut [f32]) {
        for ((from, scale), index) in elements.chunks_exact(block).zip(scales.iter_mut()).zip(first..) {
            let least = self.least.get(index).copied().unwrap_or_default();
            *scale = self.choose(from).scale.max(least);
        }
        let Some(row) = self.row else { return };
        for scales in scales.chunks_mut(row.max(1)) {
            let step = SecondLevelScale::of(scales, self.most);
            scales.iter_mut().for_each(|scale| *scale = step.nearest(*scale));
        }
    }
}

/// The candidates of the mean square error search, in percent of the widest range.
const PARTS: std::ops::RangeInclusive<u8> = 60..=99;

/// The approximate number of elements of a job: the values fit in the L1 cache.
const JOB: usize = 1 << 12;

/// Quantizes elements with a scale per `block` neighbours, on all processors. With second-level scales, the elements
/// are whole rows. `first` is the number of blocks before. The results have the length of the elements and of the
/// blocks.
pub fn quantize(
    elements: Elements<'_>,
    (block, first): (usize, usize),
    grid: &Grid,
    (integers, scales): (&mut [u8], &mut [f32]),
) {
    let together = grid.together();
    let blocks = (JOB / (block * together).max(1)).max(1) * together;
    let jobs = integers.par_chunks_mut(blocks * block.max(1)).zip(scales.par_chunks_mut(blocks)).enumerate();
    jobs.for_each_init(Vec::new, |values, (job, (integers, scales))| {
        let start = job * blocks;
        elements.part(start * block, integers.len()).widen(values);
        grid.scales(values, (block, first + start), scales);
        for ((from, to), scale) in values.chunks_exact(block).zip(integers.chunks_exact_mut(block)).zip(scales) {
            write(from, to, Parameters { scale: *scale, zero_point: 0 }, grid.bounds);
        }
    });
}

fn error(block: &[f32], parameters: Parameters, bounds: Bounds) -> f32 {
    let rounding = Rounding::new(parameters, bounds);
    let square = |value: &f32| {
        let difference = value - rounding.integer(*value) * parameters.scale;
        difference * difference
    };
    block.iter().map(square).sum()
}

fn write(from: &[f32], to: &mut [u8], parameters: Parameters, bounds: Bounds) {
    let rounding = Rounding::new(parameters, bounds);
    for (value, integer) in from.iter().zip(to) {
        *integer = rounding.byte(*value);
    }
}

/// Rounding with two additions, which compilers vectorize for every processor.
pub struct Rounding {
    inverse: f32,
    lowest: f32,
    highest: f32,
}

impl Rounding {
    /// 1.5 times 2^23: the sum of a value and this number is rounded to an integer, ties to even.
    const COARSE: f32 = 12_582_912.0;

    /// Rounding to this integer range.
    pub fn new(parameters: Parameters, bounds: Bounds) -> Self {
        Self { inverse: 1.0 / parameters.scale, lowest: bounds.lowest as f32, highest: bounds.highest as f32 }
    }

    /// The integer, as a float.
    #[inline]
    pub fn integer(&self, value: f32) -> f32 {
        self.coarse(value) - Self::COARSE
    }

    /// The integer as int8: the low byte of the sum.
    #[inline]
    pub fn byte(&self, value: f32) -> u8 {
        self.coarse(value).to_bits() as u8
    }

    /// The integer plus [`Self::COARSE`]. NaN becomes the lowest integer.
    #[inline]
    fn coarse(&self, value: f32) -> f32 {
        // Comparisons compile to a single instruction; `f32::clamp` takes three.
        let scaled = value * self.inverse;
        let above = if scaled > self.lowest { scaled } else { self.lowest };
        let within = if above < self.highest { above } else { self.highest };
        within + Self::COARSE
    }
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;

    use super::*;

    fn quantized(values: &[f32], block: usize, grid: &Grid) -> (Vec<f32>, Vec<i8>) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let (mut integers, mut scales) = (vec![0; values.len()], vec![0.0; values.len() / block]);
        let elements = Elements::new(ScalarType::Float, &bytes).unwrap();
        quantize(elements, (block, 0), grid, (&mut integers, &mut scales));
        (scales, integers.into_iter().map(u8::cast_signed).collect())
    }

    #[test]
    fn every_channel_has_a_scale() {
        let grid = Grid::new(Bounds::WEIGHT8, Observer::MinMax);
        let (scales, integers) = quantized(&[1.0, -127.0, 0.5, 254.0, 0.0, 0.0], 2, &grid);
        assert_eq!(scales[..2], [1.0, 2.0]);
        assert_eq!(integers, [1, -127, 0, 127, 0, 0]);
    }

    #[test]
    fn a_scale_is_not_smaller_than_the_limit() {
        let grid = Grid { least: vec![0.5, 4.0], ..Grid::new(Bounds::WEIGHT8, Observer::MinMax) };
        let (scales, integers) = quantized(&[127.0, 127.0, 0.0], 1, &grid);
        assert_eq!((&scales[..2], &integers[..]), (&[1.0, 4.0][..], &[127, 32, 0][..]));
    }

    #[test]
    fn the_result_does_not_depend_on_the_job_size() {
        let values: Vec<f32> = (0..3 * JOB).map(|number| ((number * 7919 % 1009) as f32 - 500.0) / 300.0).collect();
        for row in [1, 3, 2 * JOB / 32] {
            let grid = Grid::of_groups((Bounds::WEIGHT4, 255), Observer::MinMax, row);
            let (scales, integers) = quantized(&values, 32, &grid);
            for (index, elements) in values.chunks(row * 32).enumerate() {
                let (own, alone) = quantized(elements, 32, &grid);
                assert_eq!(own, scales[index * row..][..own.len()], "{row} {index}");
                assert_eq!(alone, integers[index * row * 32..][..alone.len()], "{row} {index}");
            }
        }
    }

    /// Approximately normally distributed values.
    fn normal(count: usize) -> Vec<f32> {
        let mut state = 0x9e37_79b9_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        };
        (0..count).map(|_| (0..12).map(|_| next()).sum::<f32>() - 6.0).collect()
    }

    /// The quantized and dequantized value by definition.
    fn round_trip(value: f32, scale: f32) -> f32 {
        (value * (1.0 / scale)).round_ties_even().clamp(-8.0, 7.0) * scale
    }

    #[test]
    fn group_scales_are_multiples_of_the_second_level_scale() {
        let (row, rows) = (32, 70);
        let values = normal(rows * row * 32);
        let (scales, integers) =
            quantized(&values, 32, &Grid::of_groups((Bounds::WEIGHT4, 255), Observer::MinMax, row));
        for (index, scales) in scales.chunks(row).enumerate() {
            let widest = |group: usize| {
                let weights = &values[(index * row + group) * 32..][..32];
                weights.iter().fold(0.0_f32, |widest, weight| widest.max(weight / 7.0).max(weight / -8.0))
            };
            let largest = (0..row).map(widest).fold(0.0, f32::max);
            let step = scales.iter().copied().fold(0.0, f32::max) / 255.0;
            assert!(largest <= 255.0 * step * (1.0 + f32::EPSILON) && 255.0 * step <= 1.00004 * largest);
            for (group, scale) in scales.iter().enumerate() {
                assert_eq!(*scale, step * (widest(group) / step).round_ties_even(), "{index} {group}");
            }
        }
        for ((value, integer), index) in values.iter().zip(integers).zip(0..) {
            let scale = scales[index / 32];
            assert_eq!(f32::from(integer) * scale, round_trip(*value, scale));
        }
    }

    #[test]
    fn second_level_scales_increase_the_error_by_less_than_a_thousandth() {
        let values = normal(1 << 18);
        let loss = |grid: &Grid| {
            let (scales, integers) = quantized(&values, 32, grid);
            let each = values.iter().zip(integers).zip(0..);
            let square = |((value, integer), index): ((&f32, i8), usize)| {
                f64::from(value - f32::from(integer) * scales[index / 32]).powi(2)
            };
            each.map(square).sum::<f64>().sqrt()
        };
        for observer in [Observer::MinMax, Observer::MeanSquare] {
            let any = loss(&Grid::new(Bounds::WEIGHT4, observer));
            let steps = loss(&Grid::of_groups((Bounds::WEIGHT4, 255), observer, 64));
            assert!(steps < 1.001 * any, "{observer:?} {steps} {any}");
        }
    }

    #[test]
    fn the_mean_square_range_has_no_larger_error_than_the_full_range() {
        let values: Vec<f32> = (0..64).map(|number| ((number * 37 % 64) as f32 - 31.5) / 40.0).chain([9.0]).collect();
        let loss = |observer| {
            let (scales, _) = quantized(&values, 65, &Grid::new(Bounds::WEIGHT4, observer));
            error(&values, Parameters { scale: scales[0], zero_point: 0 }, Bounds::WEIGHT4)
        };
        assert!(loss(Observer::MeanSquare) <= loss(Observer::MinMax));
    }
}

//! The weights of resized pictures, as Pillow computes these.

use std::vec::Vec;

use crate::FRACTION;

/// A filter of resizing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resampling {
    /// The nearest pixel, without antialiasing.
    Nearest,
    /// The mean of the covered pixels.
    Box,
    /// Linear interpolation.
    Bilinear,
    /// Keys, "Cubic convolution interpolation for digital image processing", 1981, with a = -0.5.
    Bicubic,
    /// Lanczos, of three lobes.
    Lanczos,
}

/// The pixels that make an output pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taps {
    /// The first pixel.
    pub first: usize,
    /// The weight of each in fixed point, with [`FRACTION`] fractional bits.
    pub weights: Vec<i32>,
}

impl Resampling {
    /// The taps of each of `to` output pixels from `from` input pixels. A smaller output widens the filter (antialiasing). Without a change
    /// of size, and by the nearest pixel, a pixel is one pixel.
    pub fn taps(self, from: usize, to: usize) -> Vec<Taps> {
        let single = |first: usize| Taps { first, weights: Vec::from([1 << FRACTION]) };
        match self.filter() {
            _ if from == to => (0..to).map(single).collect(),
            None => nearest(from, to).map(single).collect(),
            Some(filter) => filter.taps(from, to),
        }
    }

    /// The filter; `None` for the nearest pixel.
    fn filter(self) -> Option<Filter> {
        Some(match self {
            Self::Nearest => return None,
            Self::Box => Filter { weight: covered, support: 0.5 },
            Self::Bilinear => Filter { weight: triangle, support: 1.0 },
            Self::Bicubic => Filter { weight: cubic, support: 2.0 },
            Self::Lanczos => Filter { weight: lanczos, support: LOBES },
        })
    }
}

/// Whether the pass along columns is the first, for heights and widths: the rule that Pillow 13 follows. Rounding between the passes makes
/// the order visible.
pub fn is_columns_first(from: [usize; 2], to: [usize; 2]) -> bool {
    let shrinks = |from: usize, to: usize| from as i64 - to as i64;
    to[0] < from[0] && 2 * shrinks(from[1], to[1]) < shrinks(from[0], to[0])
}

/// The pixel below the center of each output pixel. Centers are summed up, as in Pillow: a center that falls on a border of pixels
/// belongs to the pixel on the side of the rounded sum.
fn nearest(from: usize, to: usize) -> impl Iterator<Item = usize> {
    let scale = from as f64 / to as f64;
    let centers = core::iter::successors(Some(scale * 0.5), move |center| Some(center + scale));
    centers.take(to).map(move |center| (center as usize).min(from - 1))
}

/// Height and width where the shorter side gets a size. The longer side is rounded down, as by torchvision.
pub fn shorter([height, width]: [usize; 2], side: usize) -> [usize; 2] {
    let longer = |long: usize, short: usize| (side.saturating_mul(long) / short.max(1)).max(1);
    if width <= height { [longer(height, width), side] } else { [side, longer(width, height)] }
}

/// The pixels ahead of the center that is kept of a side; of an odd difference, the rounding is torchvision's, half to even.
pub const fn cut(from: usize, to: usize) -> usize {
    let difference = from.saturating_sub(to);
    let half = difference / 2;
    half + (difference % 2) * (half % 2)
}

/// A filter as a function of the distance in pixels, and the distance from which it is zero.
struct Filter {
    weight: fn(f64) -> f64,
    support: f64,
}

impl Filter {
    fn taps(&self, from: usize, to: usize) -> Vec<Taps> {
        let scale = from as f64 / to as f64;
        let widening = scale.max(1.0);
        let support = self.support * widening;
        let tap = |index: usize| {
            let center = (index as f64 + 0.5) * scale;
            // Conversions to integers cut; negative numbers become 0.
            let first = (center - support + 0.5) as usize;
            let end = ((center + support + 0.5) as usize).min(from);
            let weight = |pixel: usize| (self.weight)((pixel as f64 - center + 0.5) / widening);
            let weights: Vec<f64> = (first..end).map(weight).collect();
            let sum: f64 = weights.iter().sum();
            let divisor = if sum == 0.0 { 1.0 } else { sum };
            Taps { first, weights: weights.iter().map(|weight| fixed(weight / divisor)).collect() }
        };
        (0..to).map(tap).collect()
    }
}

/// A weight in fixed point, rounded half away from zero.
fn fixed(weight: f64) -> i32 {
    (weight * f64::from(1_u32 << FRACTION)).round() as i32
}

const LOBES: f64 = 3.0;

fn covered(distance: f64) -> f64 {
    if distance > -0.5 && distance <= 0.5 { 1.0 } else { 0.0 }
}

fn triangle(distance: f64) -> f64 {
    (1.0 - distance.abs()).max(0.0)
}

fn cubic(distance: f64) -> f64 {
    const A: f64 = -0.5;
    let x = distance.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

fn lanczos(distance: f64) -> f64 {
    if (-LOBES..LOBES).contains(&distance) { sinc(distance) * sinc(distance / LOBES) } else { 0.0 }
}

fn sinc(x: f64) -> f64 {
    let angle = x * core::f64::consts::PI;
    if angle == 0.0 { 1.0 } else { angle.sin() / angle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_one_in_the_middle_and_zero_at_the_other_pixels() {
        for filter in [Resampling::Bilinear, Resampling::Bicubic, Resampling::Lanczos] {
            let Filter { weight, support } = filter.filter().unwrap();
            assert_eq!(weight(0.0), 1.0, "{filter:?}");
            for distance in [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0, support] {
                assert!(weight(distance).abs() < 1e-12, "{filter:?} {distance}");
            }
        }
    }

    #[test]
    fn the_nearest_pixel_needs_no_filter() {
        assert!(Resampling::Nearest.filter().is_none());
    }

    #[test]
    fn odd_differences_round_to_even() {
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|more| cut(10 + more, 10)), [0, 0, 1, 2, 2, 2, 3, 4]);
        assert_eq!(cut(3, 5), 0);
    }
}

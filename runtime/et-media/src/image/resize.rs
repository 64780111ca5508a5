//! Resizing: a pass along rows and a pass along columns, each with the weights of the filter in fixed point and 8-bit results, so that
//! pixels are those of Pillow's `Image.resize`.

use et_module::preprocess::Filter;

use super::Picture;
use super::filter::{Kernel, kernel};

/// The fraction bits of weights: an 8-bit value, two bits of overshoot and the sign leave so many of 32.
const FRACTION: u32 = 32 - 8 - 2;

/// The most bytes of a resized picture.
const MOST_BYTES: usize = 1 << 29;

/// A picture of `height` and `width`.
///
/// # Errors
/// A size of zero or of more than [`MOST_BYTES`].
pub fn resize(picture: &Picture, height: usize, width: usize, filter: Filter) -> Result<Picture, String> {
    // The picture between the passes has the old width or the old height.
    let [most_rows, most_columns] = [height.max(picture.height()), width.max(picture.width())];
    let bytes = most_rows.checked_mul(most_columns).and_then(|pixels| pixels.checked_mul(picture.channels()));
    if height == 0 || width == 0 || bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
        return Err(format!("it cannot be resized to {height}x{width}"));
    }
    let resized = match kernel(filter) {
        Some(kernel) if is_columns_first(picture, height, width) => {
            columns(picture.clone(), height, &kernel).and_then(|picture| rows_resized(&picture, width, &kernel))
        }
        Some(kernel) => rows_resized(picture, width, &kernel).and_then(|picture| columns(picture, height, &kernel)),
        None => nearest(picture, height, width),
    };
    resized.ok_or_else(|| "damaged: no pixels".to_owned())
}

/// Whether the pass along columns is the first: the rule that Pillow 13 follows. Rounding between the passes makes the order visible.
fn is_columns_first(picture: &Picture, height: usize, width: usize) -> bool {
    let shrinks = |from: usize, to: usize| from as i64 - to as i64;
    height < picture.height() && 2 * shrinks(picture.width(), width) < shrinks(picture.height(), height)
}

/// The pixels that make an output pixel: the first, and the weight of each in fixed point.
struct Taps {
    first: usize,
    weights: Vec<i32>,
}

/// The taps of each of `to` output pixels from `from` input pixels. A smaller output widens the kernel (antialiasing).
fn taps(from: usize, to: usize, kernel: &Kernel) -> Vec<Taps> {
    let scale = from as f64 / to as f64;
    let widening = scale.max(1.0);
    let support = kernel.support * widening;
    let tap = |index: usize| {
        let center = (index as f64 + 0.5) * scale;
        // Conversions to integers cut; negative numbers become 0.
        let first = (center - support + 0.5) as usize;
        let end = ((center + support + 0.5) as usize).min(from);
        let weight = |pixel: usize| (kernel.weight)((pixel as f64 - center + 0.5) / widening);
        let weights: Vec<f64> = (first..end).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        let divisor = if sum == 0.0 { 1.0 } else { sum };
        Taps { first, weights: weights.iter().map(|weight| fixed(weight / divisor)).collect() }
    };
    (0..to).map(tap).collect()
}

/// A weight in fixed point, rounded half away from zero.
fn fixed(weight: f64) -> i32 {
    (weight * f64::from(1_u32 << FRACTION)).round() as i32
}

/// A sum of weighted values as a value.
fn value(sum: i32) -> u8 {
    (sum >> FRACTION).clamp(0, 255) as u8
}

/// Half of a value, so that [`value`] rounds to nearest.
const HALF: i32 = 1 << (FRACTION - 1);

fn rows_resized(picture: &Picture, width: usize, kernel: &Kernel) -> Option<Picture> {
    if width == picture.width() {
        return Some(picture.clone());
    }
    let (channels, taps) = (picture.channels(), taps(picture.width(), width, kernel));
    let mut bytes = Vec::with_capacity(picture.height() * width * channels);
    for row in picture.rows() {
        for Taps { first, weights } in &taps {
            let pixels = row.get(first * channels..).unwrap_or_default();
            for channel in 0..channels {
                let values = pixels.iter().skip(channel).step_by(channels);
                let sum =
                    weights.iter().zip(values).fold(HALF, |sum, (weight, value)| sum + weight * i32::from(*value));
                bytes.push(value(sum));
            }
        }
    }
    Picture::new(width, picture.height(), channels, bytes)
}

fn columns(picture: Picture, height: usize, kernel: &Kernel) -> Option<Picture> {
    if height == picture.height() {
        return Some(picture);
    }
    let row_bytes = picture.width() * picture.channels();
    let mut bytes = Vec::with_capacity(height * row_bytes);
    for Taps { first, weights } in taps(picture.height(), height, kernel) {
        let mut sums = vec![HALF; row_bytes];
        for (weight, row) in weights.iter().zip(picture.rows().skip(first)) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * i32::from(*value));
        }
        bytes.extend(sums.into_iter().map(value));
    }
    Picture::new(picture.width(), height, picture.channels(), bytes)
}

/// The pixel below the center of each output pixel. Centers are summed up, as in Pillow: a center that falls on a border of pixels
/// belongs to the pixel on the side of the rounded sum.
fn nearest(picture: &Picture, height: usize, width: usize) -> Option<Picture> {
    let sources = |from: usize, to: usize| -> Vec<usize> {
        let scale = from as f64 / to as f64;
        let centers = std::iter::successors(Some(scale * 0.5), |center| Some(center + scale));
        centers.take(to).map(|center| (center as usize).min(from - 1)).collect()
    };
    let columns = sources(picture.width(), width);
    let channels = picture.channels();
    let rows: Vec<&[u8]> = picture.rows().collect();
    let mut bytes = Vec::with_capacity(height * width * channels);
    for row in sources(picture.height(), height) {
        let row = rows.get(row)?;
        for start in columns.iter().map(|column| column * channels) {
            bytes.extend_from_slice(row.get(start..start + channels)?);
        }
    }
    Picture::new(width, height, channels, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pixels of Pillow for a ramp of 24 and of 10 pixels: centers on a border, 0.8 * 7.5 and 0.4 * 7.5, are a little less in sums.
    #[test]
    fn the_nearest_pixel_is_that_of_pillow() {
        let ramp = |pixels: u8| Picture::new(pixels.into(), 1, 1, (0..pixels).collect()).unwrap();
        let wider = resize(&ramp(24), 1, 30, Filter::Nearest).unwrap();
        assert_eq!(wider.bytes()[..12], [0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 9]);
        let wider = resize(&ramp(10), 1, 25, Filter::Nearest).unwrap();
        assert_eq!(wider.bytes()[..12], [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4]);
    }
}

//! Resizing: a pass along rows and a pass along columns, each with the weights of the filter in fixed point and 8-bit results, so that
//! pixels are those of Pillow's `Image.resize`.

use et_module::preprocess::Filter;
use et_signal::tables::{Resampling, Taps, is_columns_first};
use et_signal::{HALF, value};

use super::Picture;

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
    let filter = resampling(filter);
    let resized = if is_columns_first([picture.height(), picture.width()], [height, width]) {
        columns(picture.clone(), height, filter).and_then(|picture| rows_resized(&picture, width, filter))
    } else {
        rows_resized(picture, width, filter).and_then(|picture| columns(picture, height, filter))
    };
    resized.ok_or_else(|| "damaged: no pixels".to_owned())
}

const fn resampling(filter: Filter) -> Resampling {
    match filter {
        Filter::Nearest => Resampling::Nearest,
        Filter::Box => Resampling::Box,
        Filter::Bilinear => Resampling::Bilinear,
        Filter::Bicubic => Resampling::Bicubic,
        Filter::Lanczos => Resampling::Lanczos,
    }
}

fn rows_resized(picture: &Picture, width: usize, filter: Resampling) -> Option<Picture> {
    if width == picture.width() {
        return Some(picture.clone());
    }
    let (channels, taps) = (picture.channels(), filter.taps(picture.width(), width));
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

fn columns(picture: Picture, height: usize, filter: Resampling) -> Option<Picture> {
    if height == picture.height() {
        return Some(picture);
    }
    let row_bytes = picture.width() * picture.channels();
    let mut bytes = Vec::with_capacity(height * row_bytes);
    for Taps { first, weights } in filter.taps(picture.height(), height) {
        let mut sums = vec![HALF; row_bytes];
        for (weight, row) in weights.iter().zip(picture.rows().skip(first)) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * i32::from(*value));
        }
        bytes.extend(sums.into_iter().map(value));
    }
    Picture::new(picture.width(), height, picture.channels(), bytes)
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

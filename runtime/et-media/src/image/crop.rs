//! Cropping.

use et_signal::tables::cut;

use super::Picture;

/// The center of a picture. A side that is smaller than wanted gets a black border; of an odd difference, the rounding is torchvision's.
///
/// # Errors
/// A size of zero.
pub fn center(picture: &Picture, height: usize, width: usize) -> Result<Picture, String> {
    let channels = picture.channels();
    let (top, left) = (offset(picture.height(), height), offset(picture.width(), width));
    let mut bytes = Vec::with_capacity(height * width * channels);
    let rows: Vec<&[u8]> = picture.rows().collect();
    for y in 0..height {
        let row = (y + top.cut).checked_sub(top.border).and_then(|y| rows.get(y)).copied().unwrap_or_default();
        for x in 0..width {
            let pixel = (x + left.cut).checked_sub(left.border);
            let pixel = pixel.and_then(|x| row.get(x * channels..(x + 1) * channels));
            bytes.extend_from_slice(pixel.unwrap_or(&BLACK[..channels]));
        }
    }
    Picture::new(width, height, channels, bytes).ok_or_else(|| format!("it cannot be cropped to {height}x{width}"))
}

/// The part of a picture that begins at a row and a column.
///
/// # Errors
/// A part without pixels, or beyond the picture.
pub fn part(picture: &Picture, [top, left]: [usize; 2], [height, width]: [usize; 2]) -> Result<Picture, String> {
    let channels = picture.channels();
    let rows = picture.rows().skip(top).take(height);
    let parts = rows.filter_map(|row| row.get(left * channels..(left + width) * channels));
    let bytes: Vec<u8> = parts.flatten().copied().collect();
    Picture::new(width, height, channels, bytes).ok_or_else(|| format!("it has no part of {height}x{width}"))
}

const BLACK: [u8; 3] = [0; 3];

/// What is left out at the start of a side, or comes before it.
struct Offset {
    cut: usize,
    border: usize,
}

fn offset(from: usize, to: usize) -> Offset {
    Offset { cut: cut(from, to), border: to.saturating_sub(from) / 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(width: usize, height: usize) -> Picture {
        Picture::new(width, height, 1, (0..(width * height) as u8).collect()).unwrap()
    }

    #[test]
    fn odd_differences_round_to_even() {
        // 0 1 2 3 / 4 5 6 7 / 8 9 10 11: a column is cut at the right, a row at the bottom.
        assert_eq!(center(&ramp(4, 3), 2, 3).unwrap().bytes(), [0, 1, 2, 4, 5, 6]);
    }

    #[test]
    fn a_smaller_picture_gets_a_border() {
        assert_eq!(center(&ramp(2, 1), 3, 3).unwrap().bytes(), [0, 0, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(center(&ramp(4, 1), 2, 2).unwrap().bytes(), [1, 2, 0, 0]);
        assert!(center(&ramp(2, 2), 0, 2).is_err());
    }
}

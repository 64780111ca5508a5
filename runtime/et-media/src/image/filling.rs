//! Sizes of pictures that fill a number of squares, as the image processor of Gemma 4 computes the sizes.

/// Height and width: multiples of `factor` of the sides of the picture scaled to `most` squares, rounded down. A strip is one square high or
/// wide.
///
/// # Errors
/// A number of squares without room for one.
pub fn size([height, width]: [usize; 2], factor: usize, most: usize) -> Result<[usize; 2], String> {
    let factor = factor.max(1);
    let (all, side) = ((height as f64) * (width as f64), factor as f64);
    let scale = ((most as f64) * side * side / all).sqrt();
    let grid = [height, width].map(|length| (scale * length as f64 / side).floor() as usize);
    let along = |long: usize, short: usize| (long / short.max(1)).min(most);
    let grid = match grid {
        [0, 0] => return Err(format!("{height}x{width} pixels have no room in {most} image tokens")),
        [0, _] => [1, along(width, height)],
        [_, 0] => [along(height, width), 1],
        both => both,
    };
    Ok(grid.map(|count| count.saturating_mul(factor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_as_large_as_the_squares_allow() {
        // The sizes of the image processor for 280 squares of 48 pixels.
        for (picture, expected) in [
            ([1080, 1920], [576, 1056]),
            ([1920, 1080], [1056, 576]),
            ([30, 50], [576, 1008]),
            ([1, 1], [768, 768]),
            ([800, 800], [768, 768]),
        ] {
            assert_eq!(size(picture, 48, 280), Ok(expected), "{picture:?}");
        }
    }

    #[test]
    fn a_strip_is_one_square_high_or_wide() {
        assert_eq!(size([1, 250], 4, 70), Ok([4, 280]));
        assert_eq!(size([250, 1], 4, 70), Ok([280, 4]));
        assert_eq!(size([1, 90], 4, 70), Ok([4, 280]));
        assert_eq!(size([3, 250], 4, 70), Ok([4, 280]));
        assert!(size([3, 2], 4, 0).unwrap_err().contains("3x2 pixels"));
    }
}

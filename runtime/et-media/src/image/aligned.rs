//! Sizes of pictures in whole squares up to a longest side, as the image processor of Pixtral computes the sizes.

/// Height and width: the next multiples of `factor` of the sides, which are scaled down to a longest side of `longest`, or less for a picture of
/// more than `most` squares. A strip that is one square high or wide may have more squares.
pub fn size(size: [usize; 2], factor: usize, [longest, most]: [usize; 2]) -> [usize; 2] {
    let factor = factor.max(1);
    let mut longest = longest.max(1);
    loop {
        let grid = scaled(size, longest).map(|side| side.saturating_sub(1) / factor + 1);
        let is_strip = grid.contains(&1);
        if grid[0].saturating_mul(grid[1]) <= most || is_strip || longest <= factor {
            return grid.map(|count| count.saturating_mul(factor));
        }
        longest = longest.min(size[0].max(size[1])).saturating_sub(1);
    }
}

/// The sides in the same ratio, if one is longer than `longest`, rounded down.
fn scaled(size: [usize; 2], longest: usize) -> [usize; 2] {
    let [height, width] = size.map(|side| side as f64 / longest as f64);
    let ratio = height.max(width);
    if ratio > 1.0 { size.map(|side| (side as f64 / ratio).floor() as usize) } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_rounded_up_to_whole_squares() {
        assert_eq!(size([30, 50], 8, [1024, 1000]), [32, 56]);
        assert_eq!(size([24, 24], 8, [1024, 1000]), [24, 24]);
        assert_eq!(size([1, 1], 8, [1024, 1000]), [8, 8]);
        // 3000 by 4000 with a longest side of 1540 is 1155 by 1540.
        assert_eq!(size([3000, 4000], 28, [1540, 5000]), [1176, 1540]);
    }

    #[test]
    fn a_picture_of_too_many_squares_is_scaled_down() {
        let found = size([3000, 4000], 28, [1540, 1024]);
        assert!(found[0] / 28 * (found[1] / 28) <= 1024, "{found:?}");
        assert_eq!(found, [756, 1036]);
        // A strip stays.
        assert_eq!(size([8, 300], 8, [1024, 9]), [8, 304]);
    }
}

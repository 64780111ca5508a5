//! Places of patches in a square table of position embeddings.

/// The rows of a table around the place of a patch, and the share of each in the patch's position embedding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corner {
    /// The row of the table.
    pub row: usize,
    /// The share.
    pub share: f32,
}

/// Two neighbours on a side of the table, and the share of each.
type Neighbours = [Corner; 2];

/// The rows of a table with so long a side around the place of a patch in a picture of so many rows and columns of patches, whose corners are
/// those of the table: bilinear interpolation, rounded as by `transformers`.
pub fn corners(side: usize, places: [usize; 2], sizes: [usize; 2]) -> [Corner; 4] {
    let [row, column] = [0, 1].map(|axis| neighbours(side, places[axis], sizes[axis]));
    let corner =
        |one: Corner, other: Corner| Corner { row: one.row * side + other.row, share: one.share * other.share };
    let [above, below] = row.map(|row| column.map(|column| corner(row, column)));
    [above[0], above[1], below[0], below[1]]
}

fn neighbours(side: usize, place: usize, size: usize) -> Neighbours {
    let last = side.saturating_sub(1);
    let at = place as f32 * last as f32 / size.saturating_sub(1).max(1) as f32;
    let [first, second] = [at.floor(), at.floor() + 1.0];
    [first, second].map(|row| Corner { row: (row as usize).min(last), share: (1.0 - (at - row).abs()).max(0.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(side: usize, places: [usize; 2], sizes: [usize; 2]) -> Vec<(usize, f32)> {
        let all = corners(side, places, sizes).into_iter().filter(|corner| corner.share > 0.0);
        all.map(|corner| (corner.row, corner.share)).collect()
    }

    #[test]
    fn the_corners_of_a_picture_are_those_of_the_table() {
        assert_eq!(found(3, [0, 0], [4, 6]), [(0, 1.0)]);
        assert_eq!(found(3, [3, 5], [4, 6]), [(8, 1.0)]);
        assert_eq!(found(3, [0, 5], [4, 6]), [(2, 1.0)]);
        assert_eq!(found(3, [1, 2], [3, 3]), [(5, 1.0)]);
    }

    #[test]
    fn a_place_between_rows_has_a_share_of_each() {
        assert_eq!(found(3, [1, 1], [5, 9]), [(0, 0.375), (1, 0.125), (3, 0.375), (4, 0.125)]);
        // A picture of one patch is in the first row.
        assert_eq!(found(3, [0, 0], [1, 1]), [(0, 1.0)]);
        assert_eq!(found(1, [2, 1], [4, 4]), [(0, 1.0)]);
    }
}

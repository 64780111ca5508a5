//! Pictures of any size as patches.

/// How a vision encoder reads pictures of any size: as patches, whose squares become image tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patches {
    /// The side of a patch in pixels.
    pub patch: usize,
    /// The frames of a patch: a picture is repeated.
    pub frames: usize,
    /// The side of a window in image tokens; 0 for no windows.
    pub window: usize,
    /// The side of a square table of position embeddings, which pictures of other sizes interpolate; 0 for no table.
    pub table: usize,
    /// The tokens of the vocabulary behind a row of image tokens, and behind the last row, if any.
    pub breaks: Option<[u32; 2]>,
    /// Whether the positions of image tokens follow each other in a decoder that has no tokens behind rows.
    pub in_order: bool,
}

/// The order in which an encoder reads a picture: windows row by row, and the squares of a window row by row.
pub struct Order {
    /// The row and the column of each square.
    pub squares: Vec<[usize; 2]>,
    /// The index behind the last square of each square's window.
    pub ends: Vec<usize>,
}

impl Patches {
    /// The order of the squares of a picture of so many rows and columns.
    pub fn order(self, [rows, columns]: [usize; 2]) -> Order {
        let side = if self.window == 0 { rows.max(columns).max(1) } else { self.window };
        let mut order = Order { squares: Vec::new(), ends: Vec::new() };
        for top in (0..rows).step_by(side) {
            for left in (0..columns).step_by(side) {
                let (bottom, right) = (rows.min(top + side), columns.min(left + side));
                order.squares.extend((top..bottom).flat_map(|row| (left..right).map(move |column| [row, column])));
                order.ends.resize(order.squares.len(), order.squares.len());
            }
        }
        order
    }

    /// The places of the patches, row and column, of squares with so many patches in a row.
    pub fn places(order: &Order, square: usize) -> impl Iterator<Item = [usize; 2]> {
        let within = move |[row, column]: [usize; 2]| {
            let patches = (0..square).flat_map(move |y| (0..square).map(move |x| [y, x]));
            patches.map(move |[y, x]| [row * square + y, column * square + x])
        };
        order.squares.iter().copied().flat_map(within)
    }

    /// The numbers of a patch, of each channel and each frame in turn; `numbers` are those of all pixels, `width` to a row.
    pub fn numbers(self, numbers: &[f32], width: usize, [row, column]: [usize; 2]) -> Vec<f32> {
        const CHANNELS: usize = 3;
        let line = |y: usize| {
            let start = ((row * self.patch + y) * width + column * self.patch) * CHANNELS;
            numbers.get(start..start + self.patch * CHANNELS).unwrap_or_default()
        };
        let plane = |channel: usize| (0..self.patch).flat_map(move |y| line(y).iter().skip(channel).step_by(CHANNELS));
        (0..CHANNELS).flat_map(|channel| (0..self.frames).flat_map(move |_| plane(channel))).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOWS: Patches = Patches { patch: 1, frames: 2, window: 2, table: 0, breaks: None, in_order: false };

    #[test]
    fn squares_follow_each_other_window_by_window() {
        let order = WINDOWS.order([3, 3]);
        let expected = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2], [1, 2], [2, 0], [2, 1], [2, 2]];
        assert_eq!(order.squares, expected);
        assert_eq!(order.ends, [4, 4, 4, 4, 6, 6, 8, 8, 9]);
        let order = Patches { window: 0, ..WINDOWS }.order([1, 2]);
        assert_eq!((order.squares.as_slice(), order.ends.as_slice()), (&[[0, 0], [0, 1]][..], &[2, 2][..]));
        let places: Vec<[usize; 2]> = Patches::places(&order, 2).collect();
        assert_eq!(places[..5], [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2]]);
    }

    #[test]
    fn a_patch_has_the_planes_of_each_frame() {
        let pixels: Vec<f32> = (0..12).map(|number| number as f32).collect();
        assert_eq!(WINDOWS.numbers(&pixels, 2, [1, 1]), [9.0, 9.0, 10.0, 10.0, 11.0, 11.0]);
    }
}

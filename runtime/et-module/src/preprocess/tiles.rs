//! The steps from a picture to the tiles that a vision encoder reads.

use super::{ImageSteps, Media};

/// The steps from a picture to tiles of one size, red, green and blue.
#[derive(Clone, Debug, PartialEq)]
pub struct TileSteps {
    /// The filter, and the numbers of the pixels; without a grid also resizing and cropping, which make the one tile.
    pub image: ImageSteps,
    /// The grid, if any.
    pub grid: Option<Grid>,
}

/// A picture as rows and columns of tiles, with a small form of the whole picture as the last tile (Idefics3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The longer side of the resized picture before the picture is cut, in pixels.
    pub longest: usize,
    /// The side of a tile in pixels.
    pub side: usize,
    /// Whether the picture is cut; otherwise the small form is the only tile.
    pub is_split: bool,
}

/// A picture as tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// The rows of the grid; 0 without a grid.
    pub rows: usize,
    /// The columns of the grid; 0 without a grid.
    pub columns: usize,
    /// The height and the width of a tile.
    pub size: [usize; 2],
    /// The pixels of each tile, row by row: the tiles of the grid, then the tile of the whole picture.
    pub pixels: Vec<Vec<u8>>,
}

/// Reads the tiles of a picture. The error is a phrase about the picture.
pub type ReadTiles = fn(picture: Media<'_>, steps: &TileSteps) -> Result<Tiles, String>;

/// Reads the samples of a recording at a rate in hertz. The error is a phrase about the recording.
pub type ReadSound = fn(recording: Media<'_>, rate: u32) -> Result<Vec<f32>, String>;

//! Pictures and sounds as tokens of a prompt.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use crate::Random;

/// The bit of image tokens. No vocabulary has so many tokens.
const IMAGE: u32 = 1 << 31;

/// Whether a token of a prompt is an image token.
pub const fn is_image(token: u32) -> bool {
    token & IMAGE != 0
}

/// A picture, or a sound, as the encoder of the model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The rows of the grid of tiles; 0 for a single tile.
    pub rows: usize,
    /// The columns of the grid; 0 for a single tile.
    pub columns: usize,
    /// Whether this is a sound, whose tiles are windows.
    pub is_sound: bool,
    /// The tiles.
    pub tiles: Vec<Arc<Tile>>,
}

/// A part of a picture or of a sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The pixels: red, green and blue, row by row; of a sound, the features.
    pub pixels: Vec<u8>,
    /// The rows and columns of the image tokens, where pictures have several sizes.
    pub grid: Option<[usize; 2]>,
    /// Whether the positions of the image tokens are the row and the column.
    has_two_positions: bool,
    /// The image tokens. They follow from the pixels, so that tiles are the same if their tokens are: prompts are compared by their
    /// tokens.
    tokens: Vec<u32>,
}

impl Tile {
    /// A tile of so many image tokens; `bits` are derived from the pixels.
    pub fn new(pixels: Vec<u8>, count: usize, mut bits: impl FnMut() -> u32) -> Self {
        Self { pixels, grid: None, has_two_positions: false, tokens: (0..count).map(|_| IMAGE | bits()).collect() }
    }

    /// A tile whose image tokens are derived from two keyed hashes of the pixels.
    pub fn hashed(pixels: Vec<u8>, count: usize, keys: &RandomState) -> Self {
        Self::hashed_in(None, pixels, count, keys)
    }

    /// A tile whose image tokens have rows and columns as positions, derived from two keyed hashes of the pixels and the grid.
    pub fn of_grid(grid: [usize; 2], pixels: Vec<u8>, keys: &RandomState) -> Self {
        Self { has_two_positions: true, ..Self::in_order(grid, pixels, keys) }
    }

    /// A tile whose image tokens have rows and columns, and positions that follow each other, derived in the same way.
    pub fn in_order(grid: [usize; 2], pixels: Vec<u8>, keys: &RandomState) -> Self {
        Self::hashed_in(Some(grid), pixels, grid[0] * grid[1], keys)
    }

    /// The same with a token behind each row.
    pub fn of_rows(grid: [usize; 2], pixels: Vec<u8>, keys: &RandomState) -> Self {
        Self::hashed_in(Some(grid), pixels, grid[0] * (grid[1] + 1), keys)
    }

    fn hashed_in(grid: Option<[usize; 2]>, pixels: Vec<u8>, count: usize, keys: &RandomState) -> Self {
        let mut bits = [0_u8, 1].map(|seed| Random::new(keys.hash_one((seed, grid, &pixels))));
        let mut index = 0;
        let tile = Self::new(pixels, count, || {
            index ^= 1;
            bits.get_mut(index).map_or(0, |bits| (bits.bits() >> 32) as u32)
        });
        Self { grid, ..tile }
    }

    /// How many positions the tile takes: where positions are rows and columns, the text behind continues from the largest of both.
    pub fn positions(&self) -> usize {
        self.grid.filter(|_| self.has_two_positions).map_or(self.tokens.len(), |[rows, columns]| rows.max(columns))
    }

    /// The image tokens.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }
}

/// The tokens of a text with pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The tokens of the vocabulary, and the image tokens of the tiles.
    pub tokens: Vec<u32>,
    /// The tiles.
    pub tiles: Vec<Arc<Tile>>,
}

impl Prompt {
    /// A text without pictures.
    pub const fn plain(tokens: Vec<u32>) -> Self {
        Self { tokens, tiles: Vec::new() }
    }
}

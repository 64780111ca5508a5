//! The tiles that a model has read.

use crate::picture::Tile;

/// The places of tiles among the tokens of a text.
#[derive(Default)]
pub struct KnownTiles(Vec<Known>);

/// A tile.
struct Known {
    /// The place of the first image token.
    start: usize,
    /// The place behind the last image token.
    end: usize,
    /// How many tokens more than positions there are, up to the end.
    saved: usize,
}

impl KnownTiles {
    /// Adds a tile behind the others.
    pub fn push(&mut self, start: usize, tile: &Tile) {
        let count = tile.tokens().len();
        let saved = self.saved() + count.saturating_sub(tile.positions());
        self.0.push(Known { start, end: start + count, saved });
    }

    /// How many tokens more than positions there are.
    pub fn saved(&self) -> usize {
        self.0.last().map_or(0, |tile| tile.saved)
    }

    /// The tokens up to the last whole tile, of `left` tokens, which may end within a tile.
    pub fn whole(&self, left: usize) -> usize {
        self.0.iter().find(|tile| (tile.start + 1..tile.end).contains(&left)).map_or(left, |tile| tile.start)
    }

    /// Forgets the tiles behind the first `left` tokens.
    pub fn truncate(&mut self, left: usize) {
        self.0.retain(|tile| tile.end <= left);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::RandomState;

    use super::*;

    #[test]
    fn text_continues_from_the_longer_side_of_a_picture_and_keeps_whole_tiles() {
        let keys = RandomState::new();
        let mut tiles = KnownTiles::default();
        tiles.push(3, &Tile::of_grid([2, 5], vec![1], &keys));
        tiles.push(20, &Tile::hashed(vec![2], 4, &keys));
        tiles.push(24, &Tile::of_grid([3, 2], vec![3], &keys));
        assert_eq!((tiles.saved(), tiles.whole(3), tiles.whole(12), tiles.whole(13)), (5 + 3, 3, 3, 13));
        tiles.push(30, &Tile::in_order([4, 3], vec![4], &keys));
        assert_eq!(tiles.saved(), 5 + 3);
        tiles.truncate(24);
        assert_eq!(tiles.saved(), 5);
        tiles.truncate(12);
        assert_eq!((tiles.saved(), tiles.whole(5)), (0, 5));
    }

    #[test]
    fn pictures_of_the_same_bytes_and_other_sides_have_other_tokens() {
        let keys = RandomState::new();
        let tile = |grid| Tile::of_grid(grid, vec![0; 12], &keys).tokens().to_vec();
        assert_eq!(tile([2, 3]), tile([2, 3]));
        assert_ne!(tile([2, 3]), tile([3, 2]));
    }
}

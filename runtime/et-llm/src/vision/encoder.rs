//! The method of an encoder beside a language model, and the embeddings that it made last.

use std::collections::VecDeque;
use std::rc::Rc;

use et_core::ScalarType;
use et_module::{Module, TensorView};

use crate::Error;
use crate::picture::Tile;

/// A loaded method that reads one tensor, `float32`: the pixels of a tile, or the features of a window of sound.
pub struct EncoderMethod {
    module: Module,
    shape: Vec<usize>,
}

impl EncoderMethod {
    /// The method called `name`, whose input has this shape.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] for a method with another input.
    pub fn new(module: Module, name: &str, shape: Vec<usize>) -> Result<Self, Error> {
        match module.input_type(0)? {
            Some(input) if input.scalar_type == ScalarType::Float && input.shape == shape => Ok(Self { module, shape }),
            _ => Err(Error::NotALanguageModel(format!("`{name}` reads no `float32 {shape:?}`"))),
        }
    }

    /// Reads the elements of the input, little-endian.
    ///
    /// # Errors
    /// Errors of the program.
    pub fn execute(&mut self, elements: &[u8]) -> Result<(), Error> {
        let view = TensorView { scalar_type: ScalarType::Float, shape: self.shape.clone(), bytes: elements };
        self.module.set_input(0, &view)?;
        Ok(self.module.execute()?)
    }

    /// Takes the weights out of memory, until the next tile or window.
    pub fn release_weights(&self) {
        self.module.release_weights();
    }

    /// The output of the last call, which follows the new values of state.
    ///
    /// # Errors
    /// Errors of the program.
    pub fn output(&self) -> Result<Vec<u8>, Error> {
        let last = self.module.output_count()?.saturating_sub(1);
        Ok(self.module.output(last)?.bytes)
    }
}

/// The most bytes of kept embeddings, of several tiles: those of 16 pictures of 1024 image tokens of 4096 numbers.
const MOST_BYTES: usize = 256 << 20;

/// The embeddings of the last tiles, for several answers to a prompt.
pub struct KeptEmbeddings {
    most: usize,
    most_bytes: usize,
    kept: VecDeque<(Vec<u32>, Rc<[u8]>)>,
}

impl KeptEmbeddings {
    /// No embeddings yet, and at most those of so many tiles.
    pub const fn new(most: usize) -> Self {
        Self { most, most_bytes: MOST_BYTES, kept: VecDeque::new() }
    }

    /// The kept embeddings of a tile.
    pub fn get(&self, tile: &Tile) -> Option<&Rc<[u8]>> {
        let found = self.kept.iter().find(|(tokens, _)| tokens == tile.tokens());
        found.map(|(_, embeddings)| embeddings)
    }

    /// The embeddings of a tile, made by `make` unless they are kept.
    ///
    /// # Errors
    /// Errors of `make`.
    pub fn of(&mut self, tile: &Tile, make: impl FnOnce() -> Result<Vec<u8>, Error>) -> Result<Rc<[u8]>, Error> {
        if let Some(embeddings) = self.get(tile) {
            return Ok(Rc::clone(embeddings));
        }
        let embeddings: Rc<[u8]> = make()?.into();
        while !self.kept.is_empty() && !self.has_room(embeddings.len()) {
            self.kept.pop_front();
        }
        self.kept.push_back((tile.tokens().to_vec(), Rc::clone(&embeddings)));
        Ok(embeddings)
    }

    /// Whether so many bytes fit.
    fn has_room(&self, bytes: usize) -> bool {
        let kept: usize = self.kept.iter().map(|(_, embeddings)| embeddings.len()).sum();
        self.kept.len() < self.most && kept + bytes <= self.most_bytes
    }
}

#[cfg(test)]
mod tests {
    use std::hash::RandomState;

    use super::*;

    #[test]
    fn embeddings_are_made_again_when_others_took_their_room() {
        let keys = RandomState::new();
        let tiles: Vec<Tile> = (0..4).map(|pixel| Tile::hashed(vec![pixel], 1, &keys)).collect();
        let mut kept = KeptEmbeddings { most_bytes: 100, ..KeptEmbeddings::new(3) };
        let mut is_made = |tile: usize, bytes: usize| {
            let mut made = false;
            let embeddings = kept.of(&tiles[tile], || {
                made = true;
                Ok(vec![0; bytes])
            });
            assert_eq!(embeddings.unwrap().len(), bytes);
            made
        };
        assert_eq!([is_made(0, 8), is_made(1, 8), is_made(2, 8), is_made(0, 8)], [true, true, true, false]);
        // The first of four made room, and then three for one of many bytes.
        assert_eq!([is_made(3, 8), is_made(1, 8), is_made(0, 95)], [true, false, true]);
        assert_eq!([is_made(0, 95), is_made(1, 8), is_made(0, 95)], [false, true, true]);
        // One may have more bytes than all.
        assert_eq!([is_made(2, 200), is_made(2, 200), is_made(3, 8)], [true, false, true]);
    }
}

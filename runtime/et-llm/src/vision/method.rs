//! The method that reads the image tokens of a tile.

use std::rc::Rc;
use std::sync::Arc;

use et_core::ScalarType;
use et_module::{Module, TensorView};

use super::SharedEncoder;
use crate::Error;
use crate::method::{copy_logits, place, set};
use crate::picture::{Tile, is_image};

/// The method of this name, with the vision encoder, and the tiles that a text may have.
pub struct ImageMethod {
    module: Module,
    embeddings: usize,
    start: usize,
    /// The sizes of the embeddings: 1, tokens, width.
    shape: Vec<usize>,
    encoder: SharedEncoder,
    tiles: Vec<Arc<Tile>>,
}

impl ImageMethod {
    /// The method of a loaded module.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] where inputs are missing, or have other types.
    pub fn new(module: Module, encoder: SharedEncoder) -> Result<Self, Error> {
        let (embeddings, start) = (place(&module, "embeddings")?, place(&module, "start")?);
        let shape = match module.input_type(embeddings)? {
            Some(wanted) if wanted.scalar_type == ScalarType::Float && wanted.shape.len() == 3 => wanted.shape.clone(),
            _ => return Err(Error::NotALanguageModel("`embeddings` are no `float32 [1, tokens, width]`".to_owned())),
        };
        Ok(Self { module, embeddings, start, shape, encoder, tiles: Vec::new() })
    }

    /// The image tokens of a tile.
    pub fn tokens(&self) -> usize {
        self.shape.get(1).copied().unwrap_or(1).max(1)
    }

    /// Makes these tiles the tiles of the next text.
    pub fn show(&mut self, tiles: &[Arc<Tile>]) {
        self.tiles = tiles.to_vec();
    }

    /// The tokens of a text up to the last whole tile: `left` tokens of a text may end within a tile.
    pub fn whole(&self, text: &[u32], left: usize) -> usize {
        let kept = text.get(..left).unwrap_or(text);
        let run = kept.iter().rev().take_while(|token| is_image(**token)).count();
        left - run % self.tokens()
    }

    /// Reads the tile whose tokens begin at a position of the text; returns the number of tokens.
    ///
    /// # Errors
    /// [`Error::UnknownTile`] for tokens of another tile than those of [`Self::show`]; errors of the program.
    pub fn execute(&mut self, tokens: &[u32], position: usize) -> Result<usize, Error> {
        let tile = self.tiles.iter().find(|tile| tokens.starts_with(tile.tokens())).ok_or(Error::UnknownTile)?;
        let bytes = self.encoder.borrow_mut().encode(tile)?;
        let view = TensorView { scalar_type: ScalarType::Float, shape: self.shape.clone(), bytes: &Rc::clone(&bytes) };
        self.module.set_input(self.embeddings, &view)?;
        set(&mut self.module, self.start, &[1], &[position as i64])?;
        self.module.execute()?;
        Ok(tile.tokens().len())
    }

    /// Copies the logits behind the last token, by way of `bytes`.
    pub fn logits(&self, bytes: &mut [u8], logits: &mut Vec<f32>) -> Result<(), Error> {
        copy_logits(&self.module, 0, bytes, logits)
    }
}

//! The method that reads image tokens: all of a tile, or a chunk of those of a picture of any size.

use std::sync::Arc;

use et_core::ScalarType;
use et_module::{Module, TensorView};

use super::SharedEncoder;
use crate::Error;
use crate::method::{copy_logits, place, set};
use crate::picture::Tile;

/// The method of this name, with the vision encoder, and the tiles that a text may have.
pub struct ImageMethod {
    module: Module,
    embeddings: usize,
    start: usize,
    chunks: Option<ChunkInputs>,
    /// The sizes of the embeddings: 1, tokens, width.
    shape: Vec<usize>,
    encoder: SharedEncoder,
    tiles: Vec<Arc<Tile>>,
}

/// The inputs of a method for chunks of image tokens.
struct ChunkInputs {
    /// The times, the rows and the columns, where tokens have such positions.
    positions: Option<[usize; 3]>,
    /// The index of the last token.
    last: usize,
}

impl ChunkInputs {
    /// The inputs of a method; `None` for a method that reads whole tiles.
    fn of(module: &Module) -> Option<Self> {
        let place = |name| place(module, name).ok();
        let positions = || Some([place("times")?, place("rows")?, place("columns")?]);
        Some(Self { positions: positions(), last: place("last")? })
    }

    /// Sets the inputs for `count` tokens from `first` on, of a tile with so many columns whose positions begin at `position`, in a method
    /// for a chunk of `piece` tokens.
    fn set(
        &self,
        module: &mut Module,
        [first, count, piece]: [usize; 3],
        columns: usize,
        position: usize,
    ) -> Result<(), Error> {
        let places = |of: fn(usize, usize) -> usize| -> Vec<i64> {
            // Padding tokens have the positions of the last token.
            let token = |index: usize| first + index.min(count.saturating_sub(1));
            (0..piece).map(|index| (position + of(token(index), columns.max(1))) as i64).collect()
        };
        let all =
            [places(|_, _| 0), places(|token, columns| token / columns), places(|token, columns| token % columns)];
        for (input, numbers) in self.positions.iter().flatten().zip(all) {
            set(module, *input, &[piece], &numbers)?;
        }
        set(module, self.last, &[1], &[count as i64 - 1])
    }
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
        let chunks = ChunkInputs::of(&module);
        Ok(Self { module, embeddings, start, chunks, shape, encoder, tiles: Vec::new() })
    }

    /// The method.
    pub const fn module_mut(&mut self) -> &mut Module {
        &mut self.module
    }

    /// Makes these tiles the tiles of the next text.
    pub fn show(&mut self, tiles: &[Arc<Tile>]) {
        self.tiles = tiles.to_vec();
    }

    /// The image tokens of the tile that tokens begin with; 1 for an unknown tile.
    pub fn length(&self, tokens: &[u32]) -> usize {
        self.tile(tokens).map_or(1, |tile| tile.tokens().len())
    }

    fn tile(&self, tokens: &[u32]) -> Option<&Arc<Tile>> {
        self.tiles.iter().find(|tile| !tile.tokens().is_empty() && tokens.starts_with(tile.tokens()))
    }

    /// Whether the tile that tokens begin with is the only one of the text that the encoder has to compute. Then the decoder and the encoder
    /// have memory in turns: with several tiles they take turns so often that it would take longer to bring the weights back.
    pub fn encodes_one(&self, tokens: &[u32]) -> bool {
        let encoder = self.encoder.borrow();
        let is_new = |tile: &Tile| !encoder.keeps(tile);
        self.tile(tokens).is_some_and(|tile| is_new(tile)) && self.tiles.iter().filter(|tile| is_new(tile)).count() == 1
    }

    /// Reads the tile that tokens begin with, of which the first has a place in the text and a position; returns the tile.
    ///
    /// # Errors
    /// [`Error::UnknownTile`] for tokens of another tile than those of [`Self::show`]; errors of the program.
    pub fn execute(&mut self, tokens: &[u32], [start, position]: [usize; 2]) -> Result<Arc<Tile>, Error> {
        let tile = Arc::clone(self.tile(tokens).ok_or(Error::UnknownTile)?);
        let is_only = self.encodes_one(tokens);
        let bytes = self.encoder.borrow_mut().encode(&tile)?;
        if is_only {
            self.encoder.borrow().release_weights();
        }
        let Some([_, columns]) = tile.grid.filter(|_| self.chunks.is_some()) else {
            self.execute_chunk(&bytes, start)?;
            return Ok(tile);
        };
        let piece = self.shape.get(1).copied().unwrap_or(1).max(1);
        let row = size_of::<f32>() * self.shape.get(2).copied().unwrap_or(1).max(1);
        for (index, chunk) in bytes.chunks(piece * row).enumerate() {
            let (first, mut chunk) = (index * piece, chunk.to_vec());
            let count = chunk.len() / row;
            chunk.resize(piece * row, 0);
            if let Some(inputs) = &self.chunks {
                inputs.set(&mut self.module, [first, count, piece], columns, position)?;
            }
            self.execute_chunk(&chunk, start + first)?;
        }
        Ok(tile)
    }

    /// Reads embeddings, of which the first has a place in the text.
    fn execute_chunk(&mut self, bytes: &[u8], start: usize) -> Result<(), Error> {
        let view = TensorView { scalar_type: ScalarType::Float, shape: self.shape.clone(), bytes };
        self.module.set_input(self.embeddings, &view)?;
        set(&mut self.module, self.start, &[1], &[start as i64])?;
        Ok(self.module.execute()?)
    }

    /// Copies the logits behind the last token, by way of `bytes`.
    pub fn logits(&self, bytes: &mut [u8], logits: &mut Vec<f32>) -> Result<(), Error> {
        copy_logits(&self.module, 0, bytes, logits)
    }
}

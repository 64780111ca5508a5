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

    /// The output of the last call, which follows the new values of state.
    ///
    /// # Errors
    /// Errors of the program.
    pub fn output(&self) -> Result<Vec<u8>, Error> {
        let last = self.module.output_count()?.saturating_sub(1);
        Ok(self.module.output(last)?.bytes)
    }
}

/// The embeddings of the last tiles, for several answers to a prompt.
pub struct KeptEmbeddings {
    most: usize,
    kept: VecDeque<(Vec<u32>, Rc<[u8]>)>,
}

impl KeptEmbeddings {
    /// No embeddings yet, and at most those of so many tiles.
    pub const fn new(most: usize) -> Self {
        Self { most, kept: VecDeque::new() }
    }

    /// The embeddings of a tile, made by `make` unless they are kept.
    ///
    /// # Errors
    /// Errors of `make`.
    pub fn of(&mut self, tile: &Tile, make: impl FnOnce() -> Result<Vec<u8>, Error>) -> Result<Rc<[u8]>, Error> {
        if let Some((_, embeddings)) = self.kept.iter().find(|(tokens, _)| tokens == tile.tokens()) {
            return Ok(Rc::clone(embeddings));
        }
        let embeddings: Rc<[u8]> = make()?.into();
        if self.kept.len() >= self.most {
            self.kept.pop_front();
        }
        self.kept.push_back((tile.tokens().to_vec(), Rc::clone(&embeddings)));
        Ok(embeddings)
    }
}

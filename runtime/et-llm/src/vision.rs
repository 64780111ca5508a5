//! Pictures and sounds in prompts. A picture is one or several tiles of a fixed size, of which the vision encoder makes the same number of image
//! tokens each, or a single tile of any size. A crate that a binary has only for a model with a vision encoder implements the traits.

mod encoder;
mod known_tiles;
mod method;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use et_module::preprocess::{Media, ReadTiles};
use et_module::{DataFiles, Engines, FileBytes, Kernels};

pub use encoder::{EncoderMethod, KeptEmbeddings};
pub use known_tiles::KnownTiles;
pub use method::ImageMethod;

use crate::picture::{Picture, Prompt, Tile};
use crate::{Error, Text};

/// Makes prompts of texts and pictures. A server reads prompts on threads besides the model's.
pub trait Viewer: Send + Sync {
    /// The text that stands for a picture in a text, such as `<image>`.
    fn mark(&self) -> &str;

    /// Whether the model hears sounds, instead of seeing pictures.
    fn hears(&self) -> bool {
        false
    }

    /// The picture, or the sound, in a file or in memory.
    ///
    /// # Errors
    /// [`Error::Picture`] or [`Error::Sound`] for a damaged file, and for another file.
    fn picture(&self, media: Media<'_>) -> Result<Picture, Error>;

    /// The prompt of a text in which [`Self::mark`] stands for each of the pictures in turn. Without pictures, the text is plain. Where
    /// `begins`, the tokenizer adds the tokens that begin every text.
    ///
    /// # Errors
    /// [`Error::Marks`] for another number of marks than pictures; errors of the tokenizer.
    fn prompt(
        &self,
        tokenizer: &dyn Text,
        text: &str,
        begins: bool,
        pictures: &[Arc<Picture>],
    ) -> Result<Prompt, Error>;
}

/// Makes embeddings of tiles.
pub trait VisionEncoder {
    /// The embeddings of a tile, `float32 [tokens, width]`, little-endian.
    ///
    /// # Errors
    /// Errors of the program.
    fn encode(&mut self, tile: &Tile) -> Result<Rc<[u8]>, Error>;

    /// Whether the embeddings of a tile are there without a computation.
    fn keeps(&self, tile: &Tile) -> bool;

    /// Takes the weights out of memory, until the next tile.
    fn release_weights(&self);
}

/// A vision encoder that several models share.
pub type SharedEncoder = Rc<RefCell<dyn VisionEncoder>>;

/// The vision encoder of a program file, or the audio encoder of a model whose prompts have sounds.
pub struct OpenedVision {
    /// Makes prompts.
    pub viewer: Arc<dyn Viewer>,
    /// Makes embeddings.
    pub encoder: SharedEncoder,
    /// The name of the method that reads the embeddings.
    pub method: &'static str,
}

/// Loads the vision encoder of a program file; `None` for a program file without one.
pub type OpenVision = fn(
    file: &Rc<FileBytes>,
    data: &dyn Fn() -> Result<DataFiles, et_module::Error>,
    kernels: Kernels<'_>,
    engines: &Engines,
    read: ReadTiles,
) -> Result<Option<OpenedVision>, Error>;

/// The parts of a binary that read pictures.
#[derive(Clone, Copy)]
pub struct Vision {
    /// The function that loads the vision encoder.
    pub open: OpenVision,
    /// The function that decodes pictures.
    pub read: ReadTiles,
}

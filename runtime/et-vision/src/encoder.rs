//! The vision encoder of a program.

mod patches;

use std::rc::Rc;

use et_llm::{EncoderMethod, Error, KeptEmbeddings, Tile, VisionEncoder};
use et_module::preprocess::ImageSteps;
use et_module::{DataFiles, Engines, FileBytes, Kernels, Module};

use crate::Facts;
use patches::PatchMethod;

/// The method: pixels in, embeddings out.
const METHOD: &str = "vision_encoder";
/// The channels of pixels.
const CHANNELS: usize = 3;
/// The tiles whose embeddings are kept.
const KEPT: usize = 16;

/// The loaded method, with the embeddings of the last tiles.
pub struct Encoder {
    method: Method,
    steps: ImageSteps,
    kept: KeptEmbeddings,
}

/// What the method reads.
enum Method {
    /// The pixels of a tile of one size.
    Tiles(EncoderMethod),
    /// The patches of a picture.
    Patches(PatchMethod),
}

impl Encoder {
    /// Loads the method.
    ///
    /// # Errors
    /// A method that cannot be loaded; other inputs than the facts state.
    pub fn load(
        file: &Rc<FileBytes>,
        data: DataFiles,
        kernels: Kernels<'_>,
        engines: &Engines,
        facts: &Facts,
    ) -> Result<Self, Error> {
        let module = Module::load_method(FileBytes::shared(file), data, METHOD, kernels, engines)?;
        let method = match facts.patches {
            Some(patches) => Method::Patches(PatchMethod::new(module, patches, facts.side)?),
            None => {
                let shape = vec![1, CHANNELS, facts.side, facts.side];
                Method::Tiles(EncoderMethod::new(module, METHOD, shape)?)
            }
        };
        Ok(Self { method, steps: facts.steps.image.clone(), kept: KeptEmbeddings::new(KEPT) })
    }
}

impl VisionEncoder for Encoder {
    fn keeps(&self, tile: &Tile) -> bool {
        self.kept.get(tile).is_some()
    }

    fn release_weights(&self) {
        match &self.method {
            Method::Tiles(method) => method.release_weights(),
            Method::Patches(method) => method.release_weights(),
        }
    }

    fn encode(&mut self, tile: &Tile) -> Result<Rc<[u8]>, Error> {
        let Self { method, steps, kept } = self;
        kept.of(tile, || {
            let numbers = steps.numbers(&tile.pixels, CHANNELS);
            match method {
                Method::Patches(method) => method.encode(&numbers, tile.grid.unwrap_or_default()),
                Method::Tiles(method) => {
                    let numbers = steps.layout.ordered(&numbers, CHANNELS);
                    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                    method.execute(&bytes)?;
                    method.output()
                }
            }
        })
    }
}

//! The vision encoder of a program.

use std::collections::VecDeque;
use std::rc::Rc;

use et_core::ScalarType;
use et_llm::{Error, Tile, VisionEncoder};
use et_module::preprocess::ImageSteps;
use et_module::{DataFiles, Engines, FileBytes, Kernels, Module, TensorView};

use crate::Facts;

/// The method: pixels in, embeddings out.
const METHOD: &str = "vision_encoder";
/// The channels of pixels.
const CHANNELS: usize = 3;
/// The embeddings of so many tiles are kept, for several answers to a prompt.
const KEPT: usize = 16;

/// The loaded method, with the embeddings of the last tiles.
pub struct Encoder {
    module: Module,
    steps: ImageSteps,
    shape: Vec<usize>,
    kept: VecDeque<(Vec<u32>, Rc<[u8]>)>,
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
        let shape = vec![1, CHANNELS, facts.side, facts.side];
        match module.input_type(0)? {
            Some(input) if input.scalar_type == ScalarType::Float && input.shape == shape => {}
            _ => return Err(Error::NotALanguageModel(format!("`{METHOD}` reads no `float32 {shape:?}`"))),
        }
        Ok(Self { module, steps: facts.steps.image.clone(), shape, kept: VecDeque::new() })
    }
}

impl VisionEncoder for Encoder {
    fn encode(&mut self, tile: &Tile) -> Result<Rc<[u8]>, Error> {
        if let Some((_, bytes)) = self.kept.iter().find(|(tokens, _)| tokens == tile.tokens()) {
            return Ok(Rc::clone(bytes));
        }
        let numbers = self.steps.layout.ordered(&self.steps.numbers(&tile.pixels, CHANNELS), CHANNELS);
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let view = TensorView { scalar_type: ScalarType::Float, shape: self.shape.clone(), bytes: &bytes };
        self.module.set_input(0, &view)?;
        self.module.execute()?;
        let embeddings: Rc<[u8]> = self.module.output(0)?.bytes.into();
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((tile.tokens().to_vec(), Rc::clone(&embeddings)));
        Ok(embeddings)
    }
}

//! Audio encoders: a tower of layers over the frames of a sound. A decoder attends to the states, or reads embeddings in the prompt.

use crate::Activation;

/// The module of the tower. Checkpoints have several names for the module.
pub const SOUND_TOWER: &str = "hearing.tower";
/// The module of the projector.
pub const SOUND_PROJECTOR: &str = "hearing.projector";

/// The names of modules in checkpoints, and the names here.
const MODULES: &[(&str, &str)] = &[
    ("language_model.lm_head.", "lm_head."),
    ("language_model.model.", "model."),
    ("model.language_model.", "model."),
    ("model.audio_tower.", "hearing.tower."),
    ("audio_tower.", "hearing.tower."),
    ("model.encoder.", "hearing.tower."),
    ("model.multi_modal_projector.", "hearing.projector."),
    ("multi_modal_projector.", "hearing.projector."),
];

/// The name here of a tensor in the checkpoint of a model that hears.
pub fn canonical(name: &str) -> String {
    super::renamed(MODULES, name)
}

/// An audio encoder (Whisper, Radford et al. 2022).
#[derive(Clone, Debug, PartialEq)]
pub struct Hearing {
    /// The tower.
    pub tower: SoundTower,
    /// What the states become.
    pub reader: Reader,
    /// The heads of the decoder that follow the sound, layer and head each, for the times of words.
    pub aligned: Vec<[usize; 2]>,
}

/// Two convolutions, of which the second halves the frames, and layers of attention and feed-forward networks over all frames.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundTower {
    /// The bands of the mel scale.
    pub bands: usize,
    /// The states of a window; twice as many frames go in.
    pub positions: usize,
    /// The elements of a state.
    pub width: usize,
    /// The heads of attention.
    pub heads: usize,
    /// The elements between the projections of the feed-forward network.
    pub inner: usize,
    /// The layers.
    pub layers: usize,
    /// The activation of the feed-forward network.
    pub activation: Activation,
}

/// Who reads the states of an audio encoder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reader {
    /// The cross-attention of the decoder (Whisper).
    Cross,
    /// The prompt: neighbouring states become one token by two linear layers without biases (Voxtral).
    Prompt {
        /// The states of a token.
        group: usize,
        /// The activation between the layers.
        activation: Activation,
        /// The audio token in the vocabulary.
        token: u32,
    },
}

impl Hearing {
    /// The tokens of a window in the prompt; `None` for cross-attention.
    pub fn tokens(&self) -> Option<usize> {
        match self.reader {
            Reader::Cross => None,
            Reader::Prompt { group, .. } => Some(self.tower.positions / group.max(1)),
        }
    }
}

/// Cross-attention of a decoder: behind attention to the text, each layer attends to the states of an encoder (Vaswani et al. 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cross {
    /// The module in a layer.
    pub attention: &'static str,
    /// The normalization ahead, in a layer.
    pub norm: &'static str,
    /// The states of the encoder.
    pub positions: usize,
    /// The elements of a state.
    pub width: usize,
}

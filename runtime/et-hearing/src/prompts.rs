//! Prompts of texts and sounds. A sound is windows of a fixed length, each the same number of audio tokens: sounds are in prompts as pictures
//! of several tiles are.

use std::collections::VecDeque;
use std::hash::RandomState;
use std::rc::Rc;
use std::sync::Arc;

use et_llm::{Error, Picture, Prompt, Text, Tile, Viewer, VisionEncoder};
use et_module::preprocess::ReadSound;

use crate::encoder::AudioEncoder;
use crate::mel::{HOP, RATE};
use crate::{Facts, Mel, Speech};

/// The embeddings of so many windows are kept, for several answers to a prompt.
const KEPT: usize = 8;

/// Makes embeddings of windows.
pub struct Embedder {
    encoder: AudioEncoder,
    kept: VecDeque<(Vec<u32>, Rc<[u8]>)>,
}

impl Embedder {
    /// A maker of embeddings.
    pub fn new(encoder: AudioEncoder) -> Self {
        Self { encoder, kept: VecDeque::new() }
    }
}

impl VisionEncoder for Embedder {
    fn encode(&mut self, tile: &Tile) -> Result<Rc<[u8]>, Error> {
        if let Some((_, bytes)) = self.kept.iter().find(|(tokens, _)| tokens == tile.tokens()) {
            return Ok(Rc::clone(bytes));
        }
        self.encoder.execute(&tile.pixels)?;
        let embeddings: Rc<[u8]> = self.encoder.output()?.into();
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((tile.tokens().to_vec(), Rc::clone(&embeddings)));
        Ok(embeddings)
    }
}

/// Makes prompts by the facts of a program file.
pub struct Listener {
    facts: Facts,
    mel: Mel,
    read: ReadSound,
    /// The keys of the hashes of sounds, which nobody knows: no client can make a sound with the hash of another one.
    state: RandomState,
}

impl Listener {
    /// A listener whose files are decoded by `read`.
    pub fn new(facts: Facts, mel: Mel, read: ReadSound) -> Self {
        Self { facts, mel, read, state: RandomState::new() }
    }

    /// The text of an audio token, the token, and the audio tokens of a window.
    fn audio(&self) -> (&str, u32, usize) {
        match &self.facts.speech {
            Speech::Prompts { mark, token, tokens } => (mark, *token, *tokens),
            Speech::Transcripts(_) => ("", u32::MAX, 1),
        }
    }
}

impl Viewer for Listener {
    fn mark(&self) -> &str {
        self.audio().0
    }

    fn hears(&self) -> bool {
        true
    }

    fn picture(&self, file: &[u8]) -> Result<Picture, Error> {
        let mut samples = (self.read)(file, RATE).map_err(Error::Sound)?;
        let window = self.facts.frames * HOP;
        samples.resize(samples.len().max(1).next_multiple_of(window), 0.0);
        let features = self.mel.features(&samples);
        let tile = |start: usize| {
            let features = features.window(start, self.facts.frames);
            Arc::new(Tile::hashed(features, self.audio().2, &self.state))
        };
        let tiles = (0..features.frames()).step_by(self.facts.frames).map(tile).collect();
        Ok(Picture { rows: 0, columns: 0, is_sound: true, tiles })
    }

    fn prompt(&self, tokenizer: &dyn Text, text: &str, begins: bool, sounds: &[Arc<Picture>]) -> Result<Prompt, Error> {
        let (mark, token, tokens) = self.audio();
        let wordings = sounds.iter().map(|sound| mark.repeat(tokens * sound.tiles.len()));
        Prompt::with_tiles(tokenizer, text, begins, (mark, mark, token), sounds, wordings)
    }
}

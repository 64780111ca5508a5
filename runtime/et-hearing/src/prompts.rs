//! Prompts of texts and sounds. A sound is windows of a fixed length, each the same number of audio tokens: sounds are in prompts as pictures
//! of several tiles are.

use std::hash::RandomState;
use std::rc::Rc;
use std::sync::Arc;

use et_llm::{EncoderMethod, Error, KeptEmbeddings, Picture, Prompt, Text, Tile, Viewer, VisionEncoder};
use et_module::preprocess::Media;

use crate::AudioTokens;
use crate::recordings::Recordings;

/// The windows whose embeddings are kept.
const KEPT: usize = 8;

/// Makes embeddings of windows.
pub struct Embedder {
    encoder: EncoderMethod,
    kept: KeptEmbeddings,
}

impl Embedder {
    /// A maker of embeddings.
    pub const fn new(encoder: EncoderMethod) -> Self {
        Self { encoder, kept: KeptEmbeddings::new(KEPT) }
    }
}

impl VisionEncoder for Embedder {
    fn keeps(&self, tile: &Tile) -> bool {
        self.kept.get(tile).is_some()
    }

    fn release_weights(&self) {
        self.encoder.release_weights();
    }

    fn encode(&mut self, tile: &Tile) -> Result<Rc<[u8]>, Error> {
        let Self { encoder, kept } = self;
        kept.of(tile, || {
            encoder.execute(&tile.pixels)?;
            encoder.output()
        })
    }
}

/// Makes prompts by the facts of a program file.
pub struct Listener {
    audio: AudioTokens,
    recordings: Recordings,
    /// The keys of the hashes of sounds, which nobody knows: no client can make a sound with the hash of another one.
    state: RandomState,
}

impl Listener {
    /// A listener to these recordings.
    pub fn new(audio: AudioTokens, recordings: Recordings) -> Self {
        Self { audio, recordings, state: RandomState::new() }
    }
}

impl Viewer for Listener {
    fn mark(&self) -> &str {
        &self.audio.mark
    }

    fn hears(&self) -> bool {
        true
    }

    fn picture(&self, media: Media<'_>) -> Result<Picture, Error> {
        let whole = |samples: usize, window: usize| samples.max(1).next_multiple_of(window);
        let (features, _) = self.recordings.features(media, whole)?;
        let frames = self.recordings.frames;
        let tile =
            |start: usize| Arc::new(Tile::hashed(features.window(start, frames), self.audio.tokens, &self.state));
        let tiles = (0..features.frames()).step_by(frames).map(tile).collect();
        Ok(Picture { rows: 0, columns: 0, is_sound: true, tiles })
    }

    fn prompt(&self, tokenizer: &dyn Text, text: &str, begins: bool, sounds: &[Arc<Picture>]) -> Result<Prompt, Error> {
        let AudioTokens { mark, token, tokens } = &self.audio;
        let wordings = sounds.iter().map(|sound| mark.repeat(tokens * sound.tiles.len()));
        Prompt::with_tiles(tokenizer, text, begins, (mark, mark, *token), sounds, wordings)
    }
}

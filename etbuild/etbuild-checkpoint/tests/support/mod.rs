//! Options that the tests share.

use etbuild_checkpoint::{Cache, Kept, Options};

/// A short context and a prefill chunk; the weights stay as the checkpoint stores them.
pub fn small() -> Options {
    Options {
        context: Some(16),
        prefill: vec![4],
        speculate: None,
        batch: None,
        cache: Cache::Float32,
        rotation: None,
        keeps: Kept::All,
        encoder: None,
        embeds: false,
        vision: false,
        sound: None,
        image_tokens: None,
        source: false,
        words: false,
        every: false,
    }
}

//! Recordings as features.

use et_llm::Error;
use et_module::preprocess::{Media, ReadSound};

use crate::mel::{HOP, RATE};
use crate::{Features, Mel};

/// Makes features of recordings.
pub struct Recordings {
    /// Decodes recordings.
    pub read: ReadSound,
    /// Makes the features.
    pub mel: Mel,
    /// The frames of a window.
    pub frames: usize,
}

impl Recordings {
    /// The features of a recording, and the seconds of the recording. Silence follows the recording up to the number of samples that `padded`
    /// gives for the samples of the recording and of a window.
    pub fn features(&self, media: Media<'_>, padded: fn(usize, usize) -> usize) -> Result<(Features, f64), Error> {
        let mut samples = (self.read)(media, RATE).map_err(Error::Sound)?;
        let seconds = samples.len() as f64 / f64::from(RATE);
        samples.resize(padded(samples.len(), self.frames * HOP), 0.0);
        Ok((self.mel.features(&samples), seconds))
    }
}

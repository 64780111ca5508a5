//! Transcripts of sound that comes bit by bit: a window of the last sound is heard again as more comes, and goes on where the last certain
//! segment ends.

use std::io::BufRead;

use et_llm::{Error, Heard, Model, SeeHeard, Text, Transcript, Wanted};
use et_module::preprocess::Media;

use crate::Features;
use crate::incoming::Incoming;
use crate::mel::{HOP, RATE};
use crate::segments::{Cut, certain, cut};
use crate::transcriber::{Window, WindowTranscriber};

/// A window is heard again behind this part of a window of new sound: 2 seconds of 30.
const STEPS: usize = 15;

/// The transcript of `sound`, up to the end of the input; `see` hears of segments as soon as they are certain.
///
/// # Errors
/// As [`et_llm::Transcriber::follow`].
pub fn follow(
    transcriber: &mut WindowTranscriber,
    (model, text): (&mut Model, &dyn Text),
    sound: &mut dyn BufRead,
    wanted: &Wanted,
    see: SeeHeard<'_>,
) -> Result<Transcript, Error> {
    transcriber.check(wanted)?;
    let frames = transcriber.recordings.frames;
    let mut rolling = Rolling { incoming: Incoming::open(sound)?, samples: Vec::new(), dropped: 0, start: 0, frames };
    let (mut window, mut transcript) = (transcriber.windows(wanted, true), Transcript::default());
    loop {
        let has_ended = rolling.listen()?;
        if rolling.samples.is_empty() {
            break;
        }
        if transcript.segments.is_empty() {
            // A language that was heard in a moment of sound is heard again.
            window.language.clone_from(&wanted.language);
        }
        let features = rolling.features(transcriber)?.window(0, frames);
        window.frames = rolling.there();
        let tokens = transcriber.hear(model, text, &features, &mut window, &mut |_| Ok(()))?;
        let (cuts, offset) = rolling.cut(&tokens, &window, has_ended);
        let mut behind = 0;
        for cut in cuts {
            let count = cut.tokens.len();
            let segment = window.segment(text, cut, rolling.start, behind)?;
            behind += count;
            see(Heard::Segment(&segment))?;
            transcript.segments.push(segment);
        }
        rolling.advance(offset);
    }
    let Rolling { incoming, samples, dropped, .. } = rolling;
    transcript.seconds = (dropped + samples.len()) as f64 / f64::from(incoming.rate);
    transcript.language = window.language;
    Ok(transcript)
}

/// The last sound.
struct Rolling<'i> {
    incoming: Incoming<'i>,
    /// The samples from the beginning of the window on.
    samples: Vec<f32>,
    /// The samples ahead of the window.
    dropped: usize,
    /// The frames ahead of the window.
    start: usize,
    /// The frames of a window.
    frames: usize,
}

impl Rolling<'_> {
    /// The samples of so many frames.
    const fn samples_of(&self, frames: usize) -> usize {
        frames * HOP * self.incoming.rate as usize / RATE as usize
    }

    /// The frames of the samples.
    fn there(&self) -> usize {
        let frames = self.samples.len() * RATE as usize / (HOP * self.incoming.rate as usize).max(1);
        frames.clamp(1, self.frames)
    }

    /// Waits for the sound of a step, or of the rest of the window; returns whether the sound has ended.
    fn listen(&mut self) -> Result<bool, Error> {
        let room = self.samples_of(self.frames).saturating_sub(self.samples.len());
        let asked = self.samples_of(self.frames / STEPS).clamp(1, room.max(1));
        Ok(self.incoming.read(&mut self.samples, asked)? < asked)
    }

    /// The features of the window.
    fn features(&self, transcriber: &WindowTranscriber) -> Result<Features, Error> {
        let media = Media::Samples { samples: &self.samples, rate: self.incoming.rate };
        let at_least = |samples: usize, window: usize| samples.max(window);
        Ok(transcriber.recordings.features(media, at_least)?.0)
    }

    /// The segments that more sound does not change, and the frames from the window to the next one.
    fn cut(&self, tokens: &[u32], window: &Window<'_>, has_ended: bool) -> (Vec<Cut>, usize) {
        match has_ended || self.there() >= self.frames {
            // A short recording is padded to a window.
            true if has_ended && self.start == 0 => cut(tokens, window.first, self.frames),
            true => cut(tokens, window.first, self.there()),
            false => certain(tokens, window.first, self.there()),
        }
    }

    /// Moves the window on by so many frames.
    fn advance(&mut self, frames: usize) {
        self.start += frames;
        let ahead = self.samples_of(self.start);
        let gone = (ahead - self.dropped).min(self.samples.len());
        self.samples.drain(..gone);
        self.dropped += gone;
    }
}

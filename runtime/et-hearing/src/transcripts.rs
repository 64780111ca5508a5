//! Transcripts of recordings of any length, each window from where the last segment of the window before ends, and of sound as it comes.

use std::io::BufRead;

use et_llm::{Error, Heard, Model, SeeHeard, Text, Transcriber, Transcript, Wanted};
use et_module::preprocess::Media;

use crate::segments::cut;
use crate::stream::follow;
use crate::transcriber::WindowTranscriber;

/// The frames of a second.
const FRAMES: f64 = 100.0;

impl Transcriber for WindowTranscriber {
    fn transcribe(
        &mut self,
        model: &mut Model,
        text: &dyn Text,
        sound: Media<'_>,
        wanted: &Wanted,
        see: SeeHeard<'_>,
    ) -> Result<Transcript, Error> {
        self.check(wanted)?;
        let at_least = |samples: usize, window: usize| samples.max(window);
        let (features, seconds) = self.recordings.features(sound, at_least)?;
        let (frames, length) = (features.frames(), self.recordings.frames);
        // Longer recordings go on where a segment ends.
        let mut window = self.windows(wanted, wanted.timestamps || frames > length);
        let (mut transcript, mut start) = (Transcript { seconds, ..Transcript::default() }, 0);
        while start < frames {
            let heard = (seconds * FRAMES).ceil() as usize;
            window.frames = heard.saturating_sub(start).clamp(1, length);
            let tokens = self.hear(model, text, &features.window(start, length), &mut window, &mut *see)?;
            let (cuts, offset) = cut(&tokens, window.first, (frames - start).min(length));
            let mut behind = 0;
            for cut in cuts {
                let count = cut.tokens.len();
                let mut segment = window.segment(text, cut, start, behind)?;
                behind += count;
                if !window.has_stamps {
                    segment.end = segment.end.min(seconds);
                }
                see(Heard::Segment(&segment))?;
                transcript.segments.push(segment);
            }
            start += offset;
        }
        transcript.language = window.language;
        Ok(transcript)
    }

    fn follow(
        &mut self,
        model: &mut Model,
        text: &dyn Text,
        sound: &mut dyn BufRead,
        wanted: &Wanted,
        see: SeeHeard<'_>,
    ) -> Result<Transcript, Error> {
        follow(self, (model, text), sound, wanted, see)
    }
}

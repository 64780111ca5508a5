//! Transcripts of recordings of any length: windows, each from where the last segment of the window before ends.

use et_llm::{
    EncoderMethod, Error, Heard, Model, Sampler, SeeHeard, Segment, SpokenTask, Text, TextStream, Transcriber,
    Transcript, Wanted,
};
use et_module::preprocess::Media;

use crate::SpokenTokens;
use crate::recordings::Recordings;
use crate::rules::Rules;
use crate::segments::{PRECISION, STRIDE, cut};

/// Transcribes by windows.
pub struct WindowTranscriber {
    spoken: SpokenTokens,
    encoder: EncoderMethod,
    recordings: Recordings,
    stops: Vec<u32>,
}

impl WindowTranscriber {
    /// A transcriber of a model.
    pub fn new(spoken: SpokenTokens, encoder: EncoderMethod, recordings: Recordings, model: &Model) -> Self {
        Self { spoken, encoder, recordings, stops: model.facts().stops }
    }

    /// The language that the model hears in the window that the encoder has read last.
    fn detect(&self, model: &mut Model) -> Result<Option<String>, Error> {
        let spoken = &self.spoken;
        if spoken.languages.is_empty() {
            return Ok(None);
        }
        let logits = model.read(&[spoken.start])?;
        let of = |token: u32| logits.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
        let best = spoken.languages.iter().max_by(|one, other| of(*one.1).total_cmp(&of(*other.1)));
        Ok(best.map(|(code, _)| code.clone()))
    }

    /// The tokens ahead of a transcript.
    fn prompt(
        &self,
        text: &dyn Text,
        wanted: &Wanted,
        language: Option<&str>,
        stamps: bool,
    ) -> Result<Vec<u32>, Error> {
        let spoken = &self.spoken;
        let mut tokens = Vec::new();
        if let (Some(before), Some(previous)) = (&wanted.prompt, spoken.previous) {
            tokens.push(previous);
            tokens.extend(text.encode(&format!(" {}", before.trim()), false)?);
        }
        tokens.push(spoken.start);
        if let Some(code) = language {
            tokens.extend(spoken.languages.get(code));
            tokens.extend(match wanted.task {
                SpokenTask::Transcribe => spoken.transcribe,
                SpokenTask::Translate => spoken.translate,
            });
        }
        tokens.extend(spoken.no_timestamps.filter(|_| !stamps));
        Ok(tokens)
    }

    /// Refuses what the model cannot do.
    fn check(&self, wanted: &Wanted) -> Result<(), Error> {
        let spoken = &self.spoken;
        match &wanted.language {
            Some(_) if spoken.languages.is_empty() => return Err(Error::OneLanguage),
            Some(code) if !spoken.languages.contains_key(code) => {
                let known = spoken.languages.keys().cloned().collect();
                return Err(Error::UnknownLanguage { language: code.clone(), known });
            }
            _ => {}
        }
        match wanted.task {
            SpokenTask::Translate if spoken.translate.is_none() => Err(Error::OneLanguage),
            _ => Ok(()),
        }
    }

    /// The tokens of a window behind the prompt, without the end.
    fn window(
        &self,
        model: &mut Model,
        text: &dyn Text,
        prompt: &[u32],
        window: &mut Window<'_>,
        see: SeeHeard<'_>,
    ) -> Result<Vec<u32>, Error> {
        let spoken = &self.spoken;
        let end = self.stops.iter().min().copied().unwrap_or(u32::MAX) as usize;
        let rules = Rules { spoken, timestamps: Some(window.first).filter(|_| window.has_stamps), end };
        let (mut picked, mut logits, mut stream) = (Vec::new(), Vec::new(), TextStream::default());
        model.read(prompt)?;
        while picked.len() < window.most {
            logits.clear();
            logits.extend_from_slice(model.logits());
            rules.apply(&mut logits, &picked);
            let token = window.sampler.pick(&logits, model.tokens())?;
            see(Heard::Token(token, model.logits()))?;
            if self.stops.contains(&token) {
                break;
            }
            picked.push(token);
            if !window.has_stamps && (token as usize) < window.first {
                see(Heard::Text(&stream.push(text, token)?))?;
            }
            if model.context().is_some_and(|context| model.tokens().len() >= context) {
                break;
            }
            if picked.len() < window.most {
                model.read(&[token])?;
            }
        }
        if !window.has_stamps {
            see(Heard::Text(&stream.finish(text)?))?;
        }
        Ok(picked)
    }
}

/// How a window is transcribed.
struct Window<'s> {
    /// The earliest timestamp of the vocabulary.
    first: usize,
    /// Whether the transcript has timestamps.
    has_stamps: bool,
    /// The most tokens.
    most: usize,
    sampler: &'s mut Sampler,
}

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
        let (frames, window) = (features.frames(), self.recordings.frames);
        // Longer recordings go on where a segment ends.
        let first = self.spoken.no_timestamps.map(|token| token as usize + 1);
        let has_stamps = first.is_some() && (wanted.timestamps || frames > window);
        let first = first.unwrap_or(usize::MAX);
        let mut language = wanted.language.clone();
        let (mut transcript, mut start) = (Transcript { seconds, ..Transcript::default() }, 0);
        let mut sampler = Sampler::new(wanted.sampling);
        while start < frames {
            model.reset();
            self.encoder.execute(&features.window(start, window))?;
            if language.is_none() {
                language = self.detect(model)?;
            }
            let prompt = self.prompt(text, wanted, language.as_deref(), has_stamps)?;
            let context = model.context().unwrap_or(usize::MAX);
            if prompt.len() >= context {
                return Err(Error::ContextFull { tokens: prompt.len() + 1, context });
            }
            model.reset();
            sampler.begin(None);
            let most = wanted.most.unwrap_or(usize::MAX);
            let mut how = Window { first, has_stamps, most, sampler: &mut sampler };
            let tokens = self.window(model, text, &prompt, &mut how, &mut *see)?;
            let there = (frames - start).min(window);
            let (cuts, offset) = cut(&tokens, first, there);
            for cut in cuts {
                let at = |step: usize| (start / STRIDE + step) as f64 * PRECISION;
                let words: Vec<u32> = cut.tokens.iter().copied().filter(|token| (*token as usize) < first).collect();
                let segment = Segment {
                    start: at(cut.start),
                    end: if has_stamps { at(cut.end) } else { at(cut.end).min(seconds) },
                    text: text.decode(&words)?,
                    tokens: cut.tokens,
                };
                see(Heard::Segment(&segment))?;
                transcript.segments.push(segment);
            }
            start += offset;
        }
        transcript.language = language;
        Ok(transcript)
    }
}

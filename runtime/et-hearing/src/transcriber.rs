//! Transcripts of windows.

use et_llm::{EncoderMethod, Error, Heard, Model, Sampler, SeeHeard, Segment, SpokenTask, Text, TextStream, Wanted};

use crate::SpokenTokens;
use crate::align::AlignMethod;
use crate::recordings::Recordings;
use crate::rules::Rules;
use crate::segments::{Cut, PRECISION, STRIDE};
use crate::warp::times;
use crate::words::{TimedToken, words};

/// Transcribes by windows.
pub struct WindowTranscriber {
    spoken: SpokenTokens,
    encoder: EncoderMethod,
    align: Option<AlignMethod>,
    pub recordings: Recordings,
    stops: Vec<u32>,
}

impl WindowTranscriber {
    /// A transcriber of a model.
    pub fn new(
        spoken: SpokenTokens,
        (encoder, align): (EncoderMethod, Option<AlignMethod>),
        recordings: Recordings,
        model: &Model,
    ) -> Self {
        Self { spoken, encoder, align, recordings, stops: model.facts().stops }
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
    fn prompt(&self, text: &dyn Text, window: &Window<'_>) -> Result<Vec<u32>, Error> {
        let Window { wanted, language, has_stamps, .. } = window;
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
        tokens.extend(spoken.no_timestamps.filter(|_| !has_stamps));
        Ok(tokens)
    }

    /// Refuses what the model cannot do.
    pub fn check(&self, wanted: &Wanted) -> Result<(), Error> {
        let spoken = &self.spoken;
        match &wanted.language {
            Some(_) if spoken.languages.is_empty() => return Err(Error::OneLanguage),
            Some(code) if !spoken.languages.contains_key(code) => {
                let known = spoken.languages.keys().cloned().collect();
                return Err(Error::UnknownLanguage { language: code.clone(), known });
            }
            _ => {}
        }
        if wanted.words && self.align.is_none() {
            return Err(Error::NoWords);
        }
        match wanted.task {
            SpokenTask::Translate if spoken.translate.is_none() => Err(Error::OneLanguage),
            _ => Ok(()),
        }
    }

    /// How windows are transcribed, with timestamps where `stamps`.
    pub fn windows<'w>(&self, wanted: &'w Wanted, stamps: bool) -> Window<'w> {
        let first = self.spoken.no_timestamps.map(|token| token as usize + 1);
        let (language, sampler) = (wanted.language.clone(), Sampler::new(wanted.sampling));
        let has_stamps = first.is_some() && stamps;
        Window {
            wanted,
            language,
            first: first.unwrap_or(usize::MAX),
            has_stamps,
            sampler,
            frames: self.recordings.frames,
            times: Vec::new(),
        }
    }

    /// The tokens of a window with these features, behind the prompt, without the end.
    ///
    /// # Errors
    /// [`Error::ContextFull`] for a long prompt; errors of the model, of the tokenizer and of `see`.
    pub fn hear(
        &mut self,
        model: &mut Model,
        text: &dyn Text,
        features: &[u8],
        window: &mut Window<'_>,
        see: SeeHeard<'_>,
    ) -> Result<Vec<u32>, Error> {
        model.reset();
        self.encoder.execute(features)?;
        if window.language.is_none() {
            window.language = self.detect(model)?;
        }
        let prompt = self.prompt(text, window)?;
        let context = model.context().unwrap_or(usize::MAX);
        if prompt.len() >= context {
            return Err(Error::ContextFull { tokens: prompt.len() + 1, context });
        }
        model.reset();
        window.sampler.begin(None);
        let tokens = self.window(model, text, &prompt, window, see)?;
        window.times.clear();
        if let Some(align) = self.align.as_mut().filter(|_| window.wanted.words) {
            let mut heads = align.read(model.tokens())?;
            heads.iter_mut().for_each(|head| drop(head.drain(..prompt.len().min(head.len()))));
            window.times = times(&heads, window.frames / STRIDE);
            // The model has not read the last token of a transcript that breaks off.
            window.times.resize(tokens.len(), window.times.last().copied().unwrap_or(0.0));
        }
        Ok(tokens)
    }

    /// The tokens of the window that the encoder has read, behind the prompt, without the end.
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
        let most = window.wanted.most.unwrap_or(usize::MAX);
        while picked.len() < most {
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
            if picked.len() < most {
                model.read(&[token])?;
            }
        }
        if !window.has_stamps {
            see(Heard::Text(&stream.finish(text)?))?;
        }
        Ok(picked)
    }
}

/// How windows are transcribed.
pub struct Window<'w> {
    wanted: &'w Wanted,
    /// The language, where it is known.
    pub language: Option<String>,
    /// The earliest timestamp of the vocabulary.
    pub first: usize,
    /// Whether the transcript has timestamps.
    pub has_stamps: bool,
    sampler: Sampler,
    /// The frames of sound in the window, for the times of words.
    pub frames: usize,
    /// The times of the tokens of the window in seconds, where words have times.
    times: Vec<f64>,
}

impl Window<'_> {
    /// The segment of a part of a window that begins at a frame; the part begins behind so many tokens of the window.
    ///
    /// # Errors
    /// Errors of the tokenizer.
    pub fn segment(&self, text: &dyn Text, cut: Cut, frame: usize, behind: usize) -> Result<Segment, Error> {
        let at = |step: usize| (frame / STRIDE + step) as f64 * PRECISION;
        let timed = self.timed(&cut.tokens, at(0), behind);
        let spoken: Vec<u32> = cut.tokens.iter().copied().filter(|token| (*token as usize) < self.first).collect();
        let words = words(text, &timed, self.language.as_deref())?;
        let (start, end) = (at(cut.start), at(cut.end));
        Ok(Segment { start, end, text: text.decode(&spoken)?, tokens: cut.tokens, words })
    }

    /// The tokens of text with their times, of a part behind so many tokens of a window that begins at a time; none where words have no times.
    fn timed(&self, tokens: &[u32], begin: f64, behind: usize) -> Vec<TimedToken> {
        let at = |index: Option<usize>| index.and_then(|index| self.times.get(index)).copied().unwrap_or(0.0) + begin;
        let token = |(index, token): (usize, &u32)| (*token, [at(index.checked_sub(1)), at(Some(index))]);
        let all = (behind..).zip(tokens).map(token);
        all.filter(|(token, _)| !self.times.is_empty() && (*token as usize) < self.first).collect()
    }
}

//! Continuations of prompts, with the records of each token.

use super::Request;
use super::cases;
use super::channels::Channels;
use super::files::{Rows, write_tokens};
use crate::statistics::Clock;
use crate::{
    Error, Generation, Limits, Picked, Sampler, Sampling, Session, Speculation, Statistics, Text, TextStream, generate,
};

/// How the request wants tokens to be picked.
pub(super) fn sampling(session: &Session, request: &Request) -> Result<Sampling, Error> {
    let usual = session.sampling();
    let sampling = Sampling {
        temperature: request.temperature.unwrap_or(usual.temperature),
        top_k: request.top_k.unwrap_or(usual.top_k),
        top_p: request.top_p.unwrap_or(usual.top_p),
        min_p: request.min_p.unwrap_or(usual.min_p),
        repetition_penalty: request.repetition_penalty.unwrap_or(usual.repetition_penalty),
        no_repeat_ngram_size: request.no_repeat_ngram_size.unwrap_or(usual.no_repeat_ngram_size),
        seed: request.seed.unwrap_or(usual.seed),
    };
    sampling.checked()
}

/// Continuations of one request, with the records of each token.
pub(super) struct Run<'a> {
    pub(super) session: &'a mut Session,
    request: &'a Request,
    sampler: Sampler,
    rows: Rows,
    clock: Clock,
    /// Tokens of the last prompt that were read.
    prompt: usize,
}

impl<'a> Run<'a> {
    pub(super) fn new(session: &'a mut Session, request: &'a Request) -> Result<Self, Error> {
        let sampler = Sampler::new(sampling(session, request)?);
        Ok(Self { session, request, sampler, rows: Rows::default(), clock: Clock::start(), prompt: 0 })
    }

    /// Reads a prompt and continues the prompt by at most `most` tokens; streams the text if the binary has a tokenizer.
    pub(super) fn generate(
        &mut self,
        prompt: &[u32],
        most: usize,
        text: Option<&dyn Text>,
        channels: &mut Channels<'_>,
    ) -> Result<Generation, Error> {
        (self.clock, self.prompt) = (Clock::start(), prompt.len());
        let prompt = self.read_for_logits(prompt, most)?;
        let Self { session, sampler, rows, clock, request, .. } = self;
        let Session { model, speculation, facts, .. } = &mut **session;
        let limits = Limits { tokens: most, stops: &facts.stops };
        let mut stream = TextStream::default();
        let mut see = |picked, logits: &[f32]| {
            if request.logits.is_some() {
                rows.push(logits);
            }
            let (Picked::Token(token), ()) = (picked, clock.token()) else { return Ok(()) };
            text.map_or(Ok(()), |text| show(&stream.push(text, token)?, channels))
        };
        let done = generate(model, speculation.as_mut(), prompt, sampler, &limits, &mut see)?;
        if let Some(text) = text {
            show(&stream.finish(text)?, channels)?;
            writeln!(channels.out)?;
        }
        Ok(done)
    }

    /// Where logits are wanted, reads the prompt token by token, all but the last, of which generation sees the logits; all
    /// for a request without generation. Returns the tokens that remain to be read.
    fn read_for_logits<'p>(&mut self, prompt: &'p [u32], most: usize) -> Result<&'p [u32], Error> {
        if self.request.logits.is_none() {
            return Ok(prompt);
        }
        let (first, rest) = prompt.split_at(if most == 0 { prompt.len() } else { prompt.len().saturating_sub(1) });
        for token in first {
            self.rows.push(self.session.model.read(&[*token])?);
        }
        Ok(rest)
    }

    /// Says how long the last continuation took, where that is wanted.
    pub(super) fn tell(&self, channels: &mut Channels<'_>) -> Result<(), Error> {
        if self.request.stats {
            let guessed = self.session.speculation.as_ref().map(Speculation::guessed);
            let statistics = Statistics { guessed, ..self.clock.statistics(self.session.load_ms, self.prompt) };
            writeln!(channels.talk, "{statistics}")?;
        }
        Ok(())
    }

    /// Writes the files that are wanted.
    pub(super) fn finish(self, tokens: &[u32]) -> Result<(), Error> {
        if let Some(path) = &self.request.tokens_out {
            write_tokens(path, tokens)?;
        }
        self.request.logits.as_ref().map_or(Ok(()), |path| cases::write(path, "logits", self.rows.into_array()))
    }
}

/// Shows a piece of text at once.
fn show(text: &str, channels: &mut Channels<'_>) -> Result<(), Error> {
    if text.is_empty() {
        return Ok(());
    }
    channels.out.write_all(text.as_bytes())?;
    Ok(channels.out.flush()?)
}

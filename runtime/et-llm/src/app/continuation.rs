//! Continuations of prompts, with the records of each token.

use super::Request;
use super::cases;
use super::channels::Channels;
use super::files::{Rows, write_tokens};
use super::form::constraint;
use super::writer::Writer;
use crate::statistics::Clock;
use crate::{
    AnswerSpec, AnswerText, Constraint, Continuation, Ended, Error, Limits, Sampler, Sampling, Session, Speculation,
    Statistics, Step, Text, is_image,
};

/// How the request wants tokens to be picked.
pub(super) fn sampling(session: &Session, request: &Request) -> Result<Sampling, Error> {
    let usual = session.sampling();
    let sampling = Sampling {
        temperature: request.temperature.unwrap_or(usual.temperature),
        top_k: request.top_k.unwrap_or(usual.top_k),
        top_p: request.top_p.unwrap_or(usual.top_p),
        min_p: request.min_p.unwrap_or(usual.min_p),
        typical_p: request.typical_p.unwrap_or(usual.typical_p),
        repetition_penalty: request.repetition_penalty.unwrap_or(usual.repetition_penalty),
        frequency_penalty: request.frequency_penalty.unwrap_or(usual.frequency_penalty),
        presence_penalty: request.presence_penalty.unwrap_or(usual.presence_penalty),
        no_repeat_ngram_size: request.no_repeat_ngram_size.unwrap_or(usual.no_repeat_ngram_size),
        seed: request.seed.unwrap_or(usual.seed),
    };
    sampling.checked()
}

/// A continuation.
pub(super) struct Said {
    /// The new tokens.
    pub(super) tokens: Vec<u32>,
    /// The new text, without thoughts; empty where tokens are wanted.
    pub(super) text: String,
}

/// Continuations of one request, with the records of each token.
pub(super) struct Run<'a> {
    pub(super) session: &'a mut Session,
    pub(super) request: &'a Request,
    sampler: Sampler,
    constraint: Option<Constraint>,
    rows: Rows,
    clock: Clock,
    /// Tokens of the last prompt that were read.
    prompt: usize,
}

impl<'a> Run<'a> {
    pub(super) fn new(session: &'a mut Session, request: &'a Request) -> Result<Self, Error> {
        let sampler = Sampler::new(sampling(session, request)?).biased(request.logit_bias.clone());
        let constraint = constraint(request)?;
        Ok(Self { session, request, sampler, constraint, rows: Rows::default(), clock: Clock::start(), prompt: 0 })
    }

    /// Reads a prompt and continues the prompt by at most `most` tokens; streams the text if the binary has a tokenizer.
    pub(super) fn generate(
        &mut self,
        prompt: &[u32],
        most: usize,
        text: Option<&dyn Text>,
        AnswerSpec { behind, shown, reader, .. }: AnswerSpec,
        channels: &mut Channels<'_>,
    ) -> Result<Said, Error> {
        let matcher = self.constraint.as_ref().map(|form| self.session.matcher(form)).transpose()?;
        self.sampler.begin_behind(behind, matcher);
        (self.clock, self.prompt) = (Clock::start(), prompt.len());
        let prompt = self.read_for_logits(prompt, most)?;
        let Self { session, sampler, rows, clock, request, .. } = self;
        let Session { model, speculation, facts, .. } = &mut **session;
        let limits = Limits { tokens: most, stops: &facts.stops };
        let mut writer = Writer::new(text, AnswerText::new(shown, request.stops.clone()), reader);
        let mut continuation = Continuation::new(prompt, speculation.as_mut());
        loop {
            let step = continuation.step(model, speculation.as_mut(), sampler, &limits)?;
            let has_logits = !matches!(step, Step::Ended(Ended::Enough | Ended::ContextFull | Ended::Complete));
            if request.logits.is_some() && has_logits {
                rows.push(model.logits());
            }
            match step {
                Step::Ended(_) => break,
                Step::Token(token) => {
                    clock.token();
                    if writer.push(token, channels)? {
                        break;
                    }
                }
            }
        }
        Ok(Said { text: writer.finish(channels)?, tokens: continuation.into_tokens() })
    }

    /// Where logits are wanted, reads the prompt token by token, the tokens of a tile of a picture together, all but the last, of which
    /// generation sees the logits; all for a request without generation. Returns the tokens that remain to be read.
    fn read_for_logits<'p>(&mut self, prompt: &'p [u32], most: usize) -> Result<&'p [u32], Error> {
        if self.request.logits.is_none() {
            return Ok(prompt);
        }
        let mut rest = prompt;
        loop {
            let model = &mut self.session.model;
            let count = if rest.first().copied().is_some_and(is_image) { model.chunk(rest) } else { rest.len().min(1) };
            let (next, behind) = rest.split_at(count);
            if next.is_empty() || (most > 0 && behind.is_empty()) {
                return Ok(rest);
            }
            self.rows.push(model.read(next)?);
            rest = behind;
        }
    }

    /// Whether answers have a form.
    pub(super) const fn has_form(&self) -> bool {
        self.constraint.is_some()
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
        self.request.logits.as_ref().map_or(Ok(()), |path| cases::write_tensor(path, "logits", self.rows.into_array()))
    }
}

//! Continuations of prompts, with the records of each token.

use super::Request;
use super::cases;
use super::channels::Channels;
use super::files::{Rows, write_tokens};
use super::form::constraint;
use super::said::Said;
use super::writer::Writer;
use crate::statistics::Clock;
use crate::{
    AnswerSpec, AnswerText, Constraint, Continuation, Ended, Error, Likelihood, Limits, Sampler, Sampling, Session,
    Speculation, Statistics, Step, Text, is_image,
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

/// How the tokens of an answer are picked, by its index.
fn sampler(session: &Session, request: &Request, answer: u64) -> Result<Sampler, Error> {
    let usual = sampling(session, request)?;
    let sampling = Sampling { seed: usual.seed.wrapping_add(answer), ..usual };
    Ok(Sampler::new(sampling).biased(request.logit_bias.clone()))
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
        let sampler = sampler(session, request, 0)?;
        let constraint = constraint(request)?;
        Ok(Self { session, request, sampler, constraint, rows: Rows::default(), clock: Clock::start(), prompt: 0 })
    }

    /// Answers a prompt as often as the request says, by at most `most` tokens each, and tells the answers. The KV cache keeps the prompt for
    /// the further answers, each of which has a seed of its own.
    pub(super) fn answers(
        &mut self,
        prompt: &[u32],
        most: usize,
        text: Option<&dyn Text>,
        spec: &AnswerSpec,
        channels: &mut Channels<'_>,
    ) -> Result<Vec<Said>, Error> {
        let (count, mut all) = (self.request.answers(), Vec::new());
        for index in 0..count {
            if index > 0 {
                self.sampler = sampler(self.session, self.request, index)?;
            }
            if count > 1 && !self.request.json {
                writeln!(channels.talk, "answer {} of {count}", index + 1)?;
            }
            let known = self.session.model.rewind(prompt);
            let rest = prompt.get(known..).unwrap_or_default();
            let said = self.generate(rest, most, text, spec, channels)?;
            said.tell(self.request, channels)?;
            self.tell(channels)?;
            all.push(said);
        }
        Ok(all)
    }

    /// Reads a prompt and continues the prompt; streams the text if the binary has a tokenizer.
    fn generate(
        &mut self,
        prompt: &[u32],
        most: usize,
        text: Option<&dyn Text>,
        AnswerSpec { behind, shown, reader, .. }: &AnswerSpec,
        channels: &mut Channels<'_>,
    ) -> Result<Said, Error> {
        let matcher = self.constraint.as_ref().map(|form| self.session.matcher(form)).transpose()?;
        self.sampler.begin_behind(*behind, matcher);
        (self.clock, self.prompt) = (Clock::start(), prompt.len());
        let prompt = self.read_for_logits(prompt, most)?;
        let Self { session, sampler, rows, clock, request, .. } = self;
        let Session { model, speculation, facts, .. } = &mut **session;
        let limits = Limits { tokens: most, stops: &facts.stops };
        let answer = AnswerText::new(shown.clone(), request.stops.clone());
        let mut writer = Writer::new(text, answer, reader.again(), !request.json);
        let mut continuation = Continuation::new(prompt, speculation.as_mut());
        let mut likelihoods = Vec::new();
        let ended = loop {
            let step = continuation.step(model, speculation.as_mut(), sampler, &limits)?;
            let has_logits = !matches!(step, Step::Ended(Ended::Enough | Ended::ContextFull | Ended::Complete));
            if request.logits.is_some() && has_logits {
                rows.push(model.logits());
            }
            match step {
                Step::Ended(ended) => break ended,
                Step::Token(token) => {
                    clock.token();
                    if let Some(count) = request.logprobs {
                        likelihoods.push(Likelihood::of(token, count, model.logits(), text)?);
                    }
                    if writer.push(token, channels)? {
                        break Ended::Stopped;
                    }
                }
            }
        };
        let (text, thoughts) = writer.finish(channels)?;
        Ok(Said { text, thoughts, tokens: continuation.into_tokens(), likelihoods, ended })
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
    fn tell(&self, channels: &mut Channels<'_>) -> Result<(), Error> {
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

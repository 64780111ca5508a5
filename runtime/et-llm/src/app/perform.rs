//! Executes requests.

use std::io::{BufRead, Write};

use super::Request;
use super::cases;
use super::chat;
use super::files::{Rows, line, read_tokens, write_tokens};
use super::perplexity;
use crate::statistics::Clock;
use crate::{
    Error, Generation, Limits, Measurement, Picked, Sampler, Sampling, Session, Speculation, Statistics, Text,
    TextStream, generate, measure,
};

/// New tokens where nobody says how many.
const NEW_TOKENS: usize = 256;

/// Where a request's text comes from and goes to.
pub struct Channels<'a> {
    /// The lines of a conversation.
    pub input: &'a mut dyn BufRead,
    /// Results.
    pub out: &'a mut dyn Write,
    /// Messages.
    pub talk: &'a mut dyn Write,
}

/// Executes a request.
///
/// # Errors
/// The first failure of the request.
pub fn perform(session: &mut Session, request: &Request, channels: &mut Channels<'_>) -> Result<(), Error> {
    if let (Some(inputs), Some(outputs)) = (&request.inputs, &request.outputs) {
        return cases::run(&mut session.model, inputs, outputs);
    }
    if let Some(file) = &request.perplexity {
        return perplexity::run(session, file, channels);
    }
    if request.bench.is_some() {
        return bench(session, request, channels);
    }
    if let Some(note) = unused_sampling(request, sampling(session, request)?) {
        writeln!(channels.talk, "{note}")?;
    }
    if request.chat {
        return chat::converse(session, request, channels);
    }
    let prompt = prompt(session, request)?;
    let most = request.max_new_tokens.unwrap_or(NEW_TOKENS);
    let text = if request.tokens_in.is_none() { Some(session.text()?) } else { None };
    let mut run = Run::new(session, request)?;
    let tokens = run.generate(&prompt, most, text.as_deref(), channels)?.tokens;
    run.tell(channels)?;
    if request.tokens_in.is_some() && request.tokens_out.is_none() {
        channels.out.write_all(line(&tokens).as_bytes())?;
    }
    run.finish(&tokens)
}

fn prompt(session: &Session, request: &Request) -> Result<Vec<u32>, Error> {
    match (&request.tokens_in, &request.prompt) {
        (Some(file), _) => read_tokens(file),
        (None, Some(prompt)) => session.text()?.encode(prompt, true),
        (None, None) => Err(Error::NoTokens),
    }
}

fn bench(session: &mut Session, request: &Request, channels: &mut Channels<'_>) -> Result<(), Error> {
    let Some(effort) = request.bench else { return Ok(()) };
    // Any tokens take the same time.
    let prompt =
        if request.tokens_in.is_none() && request.prompt.is_none() { vec![1] } else { prompt(session, request)? };
    if prompt.is_empty() {
        return Err(Error::NoTokens);
    }
    let sampler = Sampler::new(sampling(session, request)?);
    let into = Measurement { load_ms: session.load_ms, threads: session.threads, ..Measurement::default() };
    let measured = measure(&mut session.model, &prompt, &sampler, effort, into)?;
    Ok(writeln!(channels.out, "{measured}")?)
}

/// How the request wants tokens to be picked.
fn sampling(session: &Session, request: &Request) -> Result<Sampling, Error> {
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

/// A note on options of sampling that change nothing, because the temperature is 0.
fn unused_sampling(request: &Request, sampling: Sampling) -> Option<String> {
    let options = [
        ("--top-k", request.top_k.is_some()),
        ("--top-p", request.top_p.is_some()),
        ("--min-p", request.min_p.is_some()),
        ("--seed", request.seed.is_some()),
    ];
    let given: Vec<&str> = options.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    let verb = if given.len() == 1 { "changes" } else { "change" };
    (sampling.temperature <= 0.0 && !given.is_empty()).then(|| {
        let names = given.join(", ");
        format!(
            "note: {names} {verb} nothing at temperature 0, which takes the most probable token; give --temperature"
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_without_effect_are_told() {
        let request = Request { top_k: Some(5), seed: Some(1), ..Request::default() };
        let note = unused_sampling(&request, Sampling::default()).unwrap();
        assert!(note.contains("--top-k, --seed change nothing at temperature 0"), "{note}");
        assert_eq!(unused_sampling(&request, Sampling { temperature: 0.5, ..Sampling::default() }), None);
        assert_eq!(unused_sampling(&Request::default(), Sampling::default()), None);
    }
}

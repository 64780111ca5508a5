//! A text is continued.

use crate::{Error, Model, Sampler, Speculation};

/// Where a continuation ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// After this number of new tokens.
    pub tokens: usize,
    /// Behind each of these tokens.
    pub stops: &'a [u32],
}

/// Why a continuation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The model ended the text; the stop token is not part of the text.
    Stopped,
    /// The requested number of tokens is reached.
    Enough,
    /// The text fills the context.
    ContextFull,
}

/// The result of a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// The new tokens.
    pub tokens: Vec<u32>,
    /// The reason for the end.
    pub ended: Ended,
}

/// The picked token: a further token, or a stop token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    /// A token of the text.
    Token(u32),
    /// The end.
    Stop,
}

/// Called for each picked token, with the logits of the pick.
pub type See<'s> = &'s mut dyn FnMut(Picked, &[f32]) -> Result<(), Error>;

/// Reads `prompt`, the tokens that the model has not read yet, and continues the text. `see` is called for each picked token,
/// with the logits of the pick. The logits are the same with `speculation`, which is faster if draft tokens are accepted.
///
/// The model has read all tokens but the last new one.
///
/// # Errors
/// Errors of the model and of `see`.
pub fn generate(
    model: &mut Model,
    mut speculation: Option<&mut Speculation>,
    prompt: &[u32],
    sampler: &mut Sampler,
    limits: &Limits<'_>,
    see: See<'_>,
) -> Result<Generation, Error> {
    let mut tokens: Vec<u32> = Vec::new();
    if let Some(speculation) = &mut speculation {
        speculation.begin();
    }
    loop {
        if tokens.len() >= limits.tokens {
            return Ok(Generation { tokens, ended: Ended::Enough });
        }
        if !tokens.is_empty() && model.context().is_some_and(|context| model.tokens().len() >= context) {
            return Ok(Generation { tokens, ended: Ended::ContextFull });
        }
        match (tokens.last(), &mut speculation) {
            (None, _) => model.read(prompt)?,
            (Some(token), None) => model.read(&[*token])?,
            (Some(token), Some(speculation)) => speculation.read(model, *token, limits.tokens - tokens.len() - 1)?,
        };
        let logits = model.logits();
        let token = sampler.pick(logits, model.tokens())?;
        if limits.stops.contains(&token) {
            see(Picked::Stop, logits)?;
            return Ok(Generation { tokens, ended: Ended::Stopped });
        }
        see(Picked::Token(token), logits)?;
        tokens.push(token);
    }
}

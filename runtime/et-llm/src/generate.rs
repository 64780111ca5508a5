//! A text is continued.

use crate::continuation::{Ended, Limits};
use crate::{Continuation, Error, Model, Sampler, Speculation, Step};

/// The result of a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// The new tokens.
    pub tokens: Vec<u32>,
    /// The reason for the end.
    pub ended: Ended,
}

/// A step of a generation: a chunk of the prompt, a further token, or a stop token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    /// None: the model has read a chunk of the prompt, and more of it is left.
    Read,
    /// A token of the text.
    Token(u32),
    /// The end.
    Stop,
}

/// Called between the chunks of the prompt, and for each picked token with the logits of the pick.
pub type See<'s> = &'s mut dyn FnMut(Picked, &[f32]) -> Result<(), Error>;

/// Reads `prompt`, the tokens that the model has not read yet, and continues the text. `see` is called between the chunks of the prompt,
/// and for each picked token, with the logits of the pick; its error ends the generation. The logits are the same with `speculation`,
/// which is faster if draft tokens are accepted.
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
    let mut rest = prompt;
    model.check(prompt)?;
    loop {
        let (piece, behind) = rest.split_at(model.chunk(rest));
        if behind.is_empty() {
            break;
        }
        model.read(piece)?;
        see(Picked::Read, model.logits())?;
        rest = behind;
    }
    let mut continuation = Continuation::new(rest, speculation.as_deref_mut());
    loop {
        match continuation.step(model, speculation.as_deref_mut(), sampler, limits)? {
            Step::Token(token) => see(Picked::Token(token), model.logits())?,
            Step::Ended(ended) => {
                if ended == Ended::Stopped {
                    see(Picked::Stop, model.logits())?;
                }
                return Ok(Generation { tokens: continuation.into_tokens(), ended });
            }
        }
    }
}

//! Constrained output: the tokens that may follow.

use std::sync::OnceLock;

use crate::Error;

/// The form of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// A JSON object.
    JsonObject,
    /// A JSON value that a JSON schema accepts; the text of the schema.
    JsonSchema(String),
    /// A text that a regular expression matches as a whole.
    Regex(String),
    /// A text of a grammar in Lark's syntax.
    Grammar(String),
}

impl Constraint {
    /// The kind in words.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::JsonObject | Self::JsonSchema(_) => "JSON schema",
            Self::Regex(_) => "regular expression",
            Self::Grammar(_) => "grammar",
        }
    }
}

/// A token of a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A part of a text, as bytes: a character may be several tokens.
    Bytes(Vec<u8>),
    /// A special token, which has a name and no text.
    Special(String),
    /// A number without a token.
    Unused,
}

/// Compiles constraints for the tokens of a model.
pub trait Compiler: Send + Sync {
    /// A matcher at the start of an answer.
    ///
    /// # Errors
    /// [`Error::Constraint`] for a malformed constraint, or a constraint that is too large.
    fn compile(&self, constraint: &Constraint) -> Result<Box<dyn Matcher>, Error>;
}

/// The state of a constraint within an answer.
pub trait Matcher: Send {
    /// A matcher in the same state, for another answer.
    fn again(&self) -> Box<dyn Matcher>;

    /// The tokens that may follow, a bit for each token: bit 0 of the first word is token 0. An end token may follow where the answer is
    /// complete.
    ///
    /// # Errors
    /// [`Error::Constraint`] for a constraint that takes too much time or memory.
    fn allowed(&mut self) -> Result<&[u32], Error>;

    /// The answer goes on with a token that may follow.
    ///
    /// # Errors
    /// As [`Self::allowed`].
    fn advance(&mut self, token: u32) -> Result<(), Error>;

    /// Whether the answer is complete, and no token but an end token may follow.
    fn is_complete(&self) -> bool;
}

/// Makes a compiler for the tokens of a tokenizer, by token id; `stops` end a text.
pub type MakeCompiler = fn(vocabulary: &[Token], stops: &[u32]) -> Result<Box<dyn Compiler>, Error>;

/// The compiler of a model, made at the first use, because few answers have a form.
pub struct LazyCompiler {
    make: Option<MakeCompiler>,
    stops: Vec<u32>,
    compiler: OnceLock<Box<dyn Compiler>>,
}

impl LazyCompiler {
    /// The compiler that `make` makes, if any; `stops` end a text.
    pub fn new(make: Option<MakeCompiler>, stops: &[u32]) -> Self {
        Self { make, stops: stops.to_vec(), compiler: OnceLock::new() }
    }

    /// A matcher for an answer of this form; `vocabulary` gives the tokens by id at the first use.
    ///
    /// # Errors
    /// [`Error::NoConstraints`] in a binary without constrained output; errors of `vocabulary` and of [`Compiler::compile`].
    pub fn matcher(
        &self,
        constraint: &Constraint,
        vocabulary: impl FnOnce() -> Result<Vec<Token>, Error>,
    ) -> Result<Box<dyn Matcher>, Error> {
        if let Some(compiler) = self.compiler.get() {
            return compiler.compile(constraint);
        }
        let make = self.make.ok_or(Error::NoConstraints)?;
        let compiler = make(&vocabulary()?, &self.stops)?;
        self.compiler.get_or_init(|| compiler).compile(constraint)
    }
}

/// Forbids the tokens that may not follow; returns whether a token with a finite logit is left.
pub fn mask(logits: &mut [f32], allowed: &[u32]) -> bool {
    const WORD: usize = u32::BITS as usize;
    let mut is_left = false;
    for (index, logits) in logits.chunks_mut(WORD).enumerate() {
        let bits = allowed.get(index).copied().unwrap_or(0);
        if bits == 0 {
            logits.fill(f32::NEG_INFINITY);
            continue;
        }
        for (bit, logit) in logits.iter_mut().enumerate() {
            if bits >> bit & 1 == 0 {
                *logit = f32::NEG_INFINITY;
            }
            is_left |= *logit != f32::NEG_INFINITY;
        }
    }
    is_left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_without_a_bit_are_forbidden() {
        let mut logits = [1.0; 70];
        assert!(mask(&mut logits, &[0b101, 0, 1 << 5]));
        let left: Vec<usize> = (0..70).filter(|index| logits[*index].is_finite()).collect();
        assert_eq!(left, [0, 2, 69]);
        assert!(!mask(&mut logits, &[0b10]));
    }
}

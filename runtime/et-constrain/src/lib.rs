//! Constrained output: JSON schemas, regular expressions and grammars, compiled by the `llguidance` library to masks of the tokens that
//! may follow.

mod compiler;
mod matcher;
mod tokens;

use et_llm::{Error, Token};

use compiler::Grammars;

/// A compiler for the tokens of a tokenizer, as an [`et_llm::MakeCompiler`].
///
/// # Errors
/// [`Error::Constraint`] for a vocabulary that the library cannot use.
pub fn make(vocabulary: &[Token], stops: &[u32]) -> Result<Box<dyn et_llm::Compiler>, Error> {
    Ok(Box::new(Grammars::new(vocabulary, stops)?))
}

//! The state of a constraint within an answer.

use et_llm::{Error, Matcher};
use llguidance::toktrie::SimpleVob;

/// A matcher of `llguidance`, with the last mask.
pub struct Masks {
    matcher: llguidance::Matcher,
    mask: SimpleVob,
    kind: &'static str,
}

impl Masks {
    /// The state at the start of an answer.
    pub fn new(matcher: llguidance::Matcher, kind: &'static str) -> Self {
        Self { matcher, mask: SimpleVob::new(), kind }
    }

    fn failed(&self, error: &impl std::fmt::Display) -> Error {
        Error::Constraint { kind: self.kind, problem: error.to_string() }
    }
}

impl Matcher for Masks {
    fn again(&self) -> Box<dyn Matcher> {
        Box::new(Self::new(self.matcher.deep_clone(), self.kind))
    }

    fn allowed(&mut self) -> Result<&[u32], Error> {
        self.mask = self.matcher.compute_mask_or_eos().map_err(|error| self.failed(&error))?;
        Ok(self.mask.as_slice())
    }

    fn advance(&mut self, token: u32) -> Result<(), Error> {
        self.matcher.consume_token(token).map_err(|error| self.failed(&error))
    }

    fn is_complete(&self) -> bool {
        self.matcher.is_stopped()
    }
}

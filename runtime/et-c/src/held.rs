//! A loaded language model that C holds.

use std::cell::{RefCell, RefMut};

use et_llm::Session;

/// A loaded language model: `et_language` in the header.
pub struct Language {
    /// Borrowed while the model generates, so that calls from the token function are refused.
    session: RefCell<Session>,
}

pub(crate) const BUSY: &str =
    "the language model is generating: its token function must not call the model's functions";

impl Language {
    pub(crate) const fn new(session: Session) -> Self {
        Self { session: RefCell::new(session) }
    }

    pub(crate) fn session(&self) -> Result<RefMut<'_, Session>, &'static str> {
        self.session.try_borrow_mut().map_err(|_| BUSY)
    }
}

pub(crate) type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

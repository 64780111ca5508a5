//! The tokenizer of a program file.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::{CHAT_KEY, Error, TOKENIZER_KEY, Text};

/// Makes a tokenizer of the named data [`TOKENIZER_KEY`] and, if present, [`CHAT_KEY`].
pub type MakeText = fn(tokenizer: &[u8], chat: Option<&[u8]>) -> Result<Box<dyn Text>, Error>;

/// A tokenizer that is made at the first use, because reading the tokenizer takes longer than reading the program.
pub struct LazyText {
    make: Option<MakeText>,
    made: OnceCell<Rc<dyn Text>>,
}

impl LazyText {
    /// The tokenizer that `make` makes; none in a binary that reads tokens only.
    pub const fn new(make: Option<MakeText>) -> Self {
        Self { make, made: OnceCell::new() }
    }

    /// The tokenizer of a program file with this named data.
    ///
    /// # Errors
    /// [`Error::NoTokenizer`]; errors of the tokenizer's maker.
    pub fn get<'f>(&self, named_data: impl Fn(&str) -> Option<&'f [u8]>) -> Result<Rc<dyn Text>, Error> {
        if let Some(text) = self.made.get() {
            return Ok(Rc::clone(text));
        }
        let make = self.make.ok_or(Error::NoTokenizer)?;
        let tokenizer = named_data(TOKENIZER_KEY).ok_or(Error::NoTokenizer)?;
        let text = Rc::from(make(tokenizer, named_data(CHAT_KEY))?);
        Ok(Rc::clone(self.made.get_or_init(|| text)))
    }
}

//! The text streams of a request.

use std::io::{BufRead, Write};

/// Where a request's text comes from and goes to.
pub struct Channels<'a> {
    /// The lines of a conversation.
    pub input: &'a mut dyn BufRead,
    /// Results.
    pub out: &'a mut dyn Write,
    /// Messages.
    pub talk: &'a mut dyn Write,
}

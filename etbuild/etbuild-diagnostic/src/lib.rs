//! What went wrong, where, and what to do about it, as a plain value; and the ways to show it.
//!
//! Library code builds a [`Diagnostic`] and returns it. Only the command turns it into text, with one of the
//! functions of [`render`], and into an exit code, with [`exit_code`].

mod code;
mod diagnostic;
mod failure;
pub mod render;
mod span;

pub use code::{Code, CodeInfo};
pub use diagnostic::{Diagnostic, Severity};
pub use failure::{Failure, exit_code};
pub use span::{Position, Span};

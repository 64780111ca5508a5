//! Diagnostics as plain values, and their renderers.
//!
//! Library code builds a [`Diagnostic`] and returns the value. Only the command renders diagnostics, with a function of
//! [`render`], and derives the exit code, with [`exit_code`].
//!
//! ```
//! use etbuild_diagnostic::{Code, Diagnostic, Position, Span, exit_code, render};
//!
//! let span = Span::new("digits.yaml", Position::new(4, 1), Position::new(4, 9));
//! let found = Diagnostic::error(Code::UnknownKey, "unknown key `quantise`").at(span).help("did you mean `quantize`?");
//! let text = render::human(&[found.clone()], false);
//! assert!(text.starts_with("error[ETB0107]: unknown key `quantise`") && text.contains("digits.yaml:4:1"));
//! assert_eq!(exit_code(&[found]), 3);
//! ```

mod code;
mod diagnostic;
mod explanation;
mod failure;
pub mod render;
mod span;
mod unreadable;
mod unwritable;

pub use code::{Code, CodeInfo};
pub use diagnostic::{Diagnostic, Severity, exit_code};
pub use explanation::{Example, Explanation, reference_markdown};
pub use failure::Failure;
pub use span::{Position, Span};
pub use unreadable::unreadable;
pub use unwritable::unwritable;

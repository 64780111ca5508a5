//! Golden tests: text in, text out.
//!
//! A case is a file `tests/<area>/<case>.ir`: comments that describe the behaviour, options, a program, a line `---`, and
//! the expected output.
//!
//! ```text
//! // A slice moves above `relu`, so that `relu` computes a single row.
//! //! runtime: etbuild
//! etbuild-ir 1 aten
//! method forward
//!   input %x: float32[4, 2]
//!   constant %scale: float32[2] = "scale" [0.5, 2.0]
//!   ...
//! ---
//! etbuild-ir 1 aten
//! ...
//! ```
//!
//! The program is [printed IR](etbuild_ir::text) with two differences. Constants are literals instead of digests: a list
//! (`[0.5, 2.0]`), `splat(0.5)` for equal elements, or `ramp(-1.0, 1.0)` for evenly spaced elements. Value numbers such as
//! `@7` are left out. Large constants that a pass computes print their first elements and a short digest.
//!
//! `UPDATE=1 cargo test -p <crate>` accepts the output of every case; the diff of the commit is the review.

mod case;
mod check;
mod diff;
mod literal;
mod program;

pub use case::Case;
pub use check::check;

/// A program whose constants are literals, for tests that check numbers or errors.
///
/// # Errors
/// Text that does not parse, or a program that is not valid in the dialect that the first line names.
pub fn parse(text: &str) -> Result<etbuild_ir::Program, String> {
    program::parse(text, &mut program::Literals::default()).map(|(_, program)| program)
}

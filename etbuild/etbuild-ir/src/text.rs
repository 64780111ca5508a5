//! Programs as text: readable, stable, a node per line. Stages exchange programs in this form.
//!
//! ```text
//! etbuild-ir 1 aten
//! method forward
//!   input %x: float32[1, 1, 8, 8]
//!   constant %weight: float32[16, 1, 3, 3] = "conv1.weight" b3:91d5…
//!   %y: float32[1, 16, 6, 6] from conv1 = aten.conv2d.default(%x, %weight, none, [1, 1], [0, 0], [1, 1], 1)
//!   %z: float32[1, 16, 6, 6] = aten.relu.default(%y)
//!   return %z
//! ```
//!
//! Values are numbered in the order of lines; a value with another number states the number (`%x@7`). Braces hold a
//! dim order other than row-major (`float32[1, 2, 3, 4]{0, 2, 3, 1}`), `from` precedes the module of the model's
//! source. A dynamic size is a range (`float32[1..8, 3]`), a number has no brackets (`int64 0..7`). State is declared
//! like a constant, with the first value, and `update %state %new` states the value after an execution. Lists are
//! lists of integers unless tagged: `values[%a, none]`, `sizes[%n, 3]`, `floats[0.5]`, `bools[true]`. A nested graph
//! is enclosed in `graph {` and `}`.

mod lex;
mod parse;
mod parse_method;
mod plan;
mod print;
mod word;

pub use lex::ParseError;
pub use parse::parse;
pub use plan::{PlanTextError, parse_plan, print_plan};
pub use print::print;

/// The version of the text format, in the first line.
const VERSION: &str = "1";

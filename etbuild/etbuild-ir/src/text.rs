//! Programs as text: readable, stable, one node per line. It is the form in which stages hand programs to each other.
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
//! Values are numbered in the order of their lines; one that has another number states it (`%x@7`). A layout other than
//! row-major stands in braces (`float32[1, 2, 3, 4]{0, 2, 3, 1}`), the module of the model's source that a value comes
//! from after `from`. A dynamic size is a range (`float32[1..8, 3]`), a number has no brackets (`int64 0..7`), state is
//! like a constant with its first value, and `update %state %new` says what it holds afterwards. Lists are of integers
//! unless they say what they are of: `values[%a, none]`, `sizes[%n, 3]`, `floats[0.5]`, `bools[true]`. A graph that an
//! operator runs stands between `graph {` and `}`.

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

/// The version of the form, which its first line states.
const VERSION: &str = "1";

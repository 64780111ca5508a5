//! Exporting a model with the user's Python: which interpreter, what it is asked, what it read.

mod interpreter;
mod protocol;
mod reads;

pub use interpreter::{Interpreter, interpreter};
pub use protocol::{Answer, ask, temporary};
pub use reads::{Reads, recall, remember};

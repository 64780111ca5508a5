//! Exporting a model with the user's Python: the interpreter, the requests, the reads.

mod interpreter;
mod protocol;
mod reads;

pub use interpreter::{Interpreter, interpreter};
pub use protocol::{Answer, ask, temporary};
pub use reads::{Reads, recall, remember};

//! Tool calls: how models write calls, and how calls are read from an answer.

mod call;
mod choice;
mod format;
mod formats;
mod grammar;
mod pythonic;
mod reader;
mod thinking;
mod tool;

pub use call::Call;
pub use choice::{Choice, Tools};
pub use reader::{Part, Reader};
pub use thinking::{BEGIN, END, Thinking};

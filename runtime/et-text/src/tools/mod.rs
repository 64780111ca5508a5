//! Tool calls and thoughts: how models write them, and how they are read from an answer.

mod call;
mod format;
mod formats;
mod grammar;
mod pythonic;
mod question;
mod reader;
mod thinking;
mod tool;

pub use question::ask;

//! Tool calls and thoughts: how models write them, and how they are read from an answer.

mod call;
mod format;
mod formats;
mod grammar;
mod harmony;
mod notation;
mod pythonic;
mod question;
mod reader;
mod schema;
mod sections;
mod tagged;
mod thinking;
mod tool;

pub use question::ask;

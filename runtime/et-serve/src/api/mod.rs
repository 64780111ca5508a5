//! The protocol of OpenAI: requests and answers.

mod chat;
mod completion;
mod parameters;
mod shape;
mod wanted;

pub use chat::CHAT;
pub use completion::COMPLETION;
pub use parameters::Parameters;
pub use shape::{Shape, choice, usage};
pub use wanted::{Sending, Wanted};

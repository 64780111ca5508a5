//! The protocol of OpenAI: prompts and answers.

mod chat;
mod completion;
mod message;
mod shape;

pub use chat::CHAT;
pub use completion::COMPLETION;
pub use shape::{Asked, Place, Prompt, Shape, choice, usage};

//! The protocol of OpenAI: requests and answers.

mod chat;
mod completion;
mod form;
mod message;
mod parameters;
mod shape;
mod wanted;

pub use chat::CHAT;
pub use completion::COMPLETION;
pub use form::Form;
pub use parameters::Parameters;
pub use shape::{Asked, Place, Prompt, Shape, choice, usage};
pub use wanted::{Sending, Wanted};

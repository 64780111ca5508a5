//! The protocol of OpenAI: prompts and answers; texts and numbers.

mod chat;
mod completion;
mod embeddings;
mod message;
mod rerank;
mod shape;
mod texts;
mod tools;
mod transcription;

pub use chat::CHAT;
pub use completion::COMPLETION;
pub use embeddings::take_embeddings;
pub use rerank::take_rerank;
pub use shape::{Asked, Place, Prompt, Shape, choice, usage};
pub use texts::{TakeTexts, Texts};
pub use transcription::{PIECES, Speech, shape_transcript, take_speech, text_delta, text_done};

//! Language models on a hosted machine.
//!
//! A [`Model`] is a program with the methods `prefill` and `decode`, which share state: tokens go in, logits come out.
//! [`generate`] continues a text with it, token by token, each picked by a [`Sampler`]. [`Session`] adds what the program file
//! holds besides: which tokens end a text, and the tokenizer, which is a [`Text`] of somebody else's making. [`app`] is the
//! whole command line of a generated binary. No third-party crate.

pub mod app;
mod error;
mod facts;
mod generate;
mod measure;
mod model;
mod random;
mod sampler;
mod session;
mod statistics;
mod stream;
mod text;

pub use error::Error;
pub use facts::{CHAT_KEY, Facts, GENERATION_KEY, TOKENIZER_KEY};
pub use generate::{Ended, Generation, Limits, Picked, See, generate};
pub use measure::{Effort, Measurement, measure};
pub use model::Model;
pub use random::Random;
pub use sampler::{Sampler, Sampling};
pub use session::{Loading, MakeText, Session};
pub use statistics::Statistics;
pub use stream::TextStream;
pub use text::{Message, Text};

//! The thread with an encoder, which reads the texts of one request after the other.

mod desk;
mod job;

pub use desk::{Desk, run};
pub use job::{Answered, EncoderJob, Input, Inputs};

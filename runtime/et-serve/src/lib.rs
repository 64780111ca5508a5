//! The server of a language model's binary, which speaks the OpenAI protocol over HTTP.
//!
//! The scheduler is the thread with the model; HTTP is on another thread. A request becomes a job: HTTP reads JSON, renders the
//! chat template and makes tokens, the scheduler gives the job a slot and sends events back, text as tokens come. A queue is
//! between both. A slot has a KV cache, so several texts are continued at the same time, in turns of a token.

mod api;
mod arguments;
mod error;
mod http;
mod key;
mod metrics;
mod request;
mod run;
mod scheduler;
mod server;
mod tools;

pub use run::serve;

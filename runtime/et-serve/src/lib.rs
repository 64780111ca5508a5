//! The server of the binary of a language model or of an encoder, which speaks the OpenAI protocol over HTTP.
//!
//! The scheduler is the thread with the model; HTTP is on another thread. A request becomes a job: HTTP reads JSON, renders the
//! chat template and makes tokens, the scheduler gives the job a slot and sends events back, text as tokens come. A queue is
//! between both. A slot has a KV cache, so several texts are continued at the same time, in turns of a token. The thread of an encoder, or
//! of a model for transcripts, finishes a request before the next one.

mod api;
mod arguments;
mod encoder;
mod error;
mod http;
mod key;
mod language;
mod load;
mod metrics;
mod request;
mod run;
mod running;
mod scheduler;
mod serial;
mod server;
mod speech;
mod trace;

pub use run::serve;

//! HTTP: connections, routes, bodies, answers.

mod answer;
mod ask;
mod body;
mod encode;
mod form;
mod frame;
mod listen;
mod race;
mod routes;
mod stream;
mod transcribe;
mod transcript_stream;

pub use listen::listen;

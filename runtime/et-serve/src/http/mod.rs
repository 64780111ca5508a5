//! HTTP: connections, routes, bodies, answers.

mod answer;
mod body;
mod encode;
mod frame;
mod listen;
mod race;
mod routes;
mod stream;

pub use listen::listen;

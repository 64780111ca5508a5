//! HTTP: connections, routes, bodies, answers.

mod answer;
mod body;
mod listen;
mod routes;

pub use listen::listen;

//! The C interface of programs and language models, for apps.
//!
//! [`HEADER`] declares and documents the functions. A generated library exports the functions of [`module`] or of
//! [`language`], [`content`] and [`tokens`], and defines the load function, which names the program's kernels. A library for a model that makes
//! transcripts exports the function of [`speech`], too, and a library for a recipe with updates those on [`update`]. An object belongs to one
//! thread at a time.
//!
//! Functions return 0 on success; another number is a failure with a message in `failure`. No third-party crate.

pub mod answer;
pub mod content;
mod failure;
pub mod functions;
pub mod held;
pub mod language;
pub mod module;
pub mod options;
mod pointers;
mod prompt;
pub mod speech;
pub mod tokens;
pub mod update;
#[cfg(target_arch = "wasm32")]
pub mod web;

pub use failure::et_error_message;

/// The header file.
pub const HEADER: &str = include_str!("etbuild.h");

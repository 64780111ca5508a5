//! The C interface of programs and language models: what an app links.
//!
//! [`HEADER`] declares the functions and says what they promise. A generated library has those of [`module`] or of [`language`];
//! it defines the one that loads, because that one names its kernels. An object belongs to one thread at a time.
//!
//! Functions return 0, or another number and leave a message with `failure`. No third-party crate.

mod failure;
pub mod language;
pub mod module;
mod pointers;

pub use failure::et_error_message;

/// The header file.
pub const HEADER: &str = include_str!("etbuild.h");

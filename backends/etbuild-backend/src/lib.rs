//! What an engine of parts of programs is to the host: what it takes, and how it lowers what it took.
//!
//! A [`Backend`] judges single nodes. The partitioner gathers the nodes that it takes into graphs of their own, and the
//! backend lowers each to a [`Blob`]: bytes that the program file carries and that the backend's device crate executes.

mod backend;
mod blob;
mod refusal;
mod target;

pub use backend::Backend;
pub use blob::{ALIGNMENT, Blob, Content, Origin, Weights};
pub use refusal::{Refusal, RefusalKind};
pub use target::TargetFacts;

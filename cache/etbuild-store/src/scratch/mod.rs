//! Files being written: they become visible whole, by a rename, or not at all.

mod folder;
mod staged;
mod sweep;

pub(crate) use folder::Scratch;
pub(crate) use staged::{Access, Durability, Staged};
pub(crate) use sweep::sweep;

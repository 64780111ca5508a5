//! Files being written: a rename makes a whole file visible; a partial file stays invisible.

mod folder;
mod staged;
mod sweep;

pub(crate) use folder::Scratch;
pub(crate) use staged::{Access, Durability, Staged};
pub(crate) use sweep::sweep;

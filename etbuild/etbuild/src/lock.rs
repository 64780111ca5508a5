//! `etbuild.lock`: inputs and results of units, to be committed beside the recipes.

mod compare;
mod file;
mod gather;

pub use compare::{changed_outputs, changed_sources};
pub use file::{LOCK_FILE, Lock, commits, read, write};
pub use gather::{add_outputs, gather};

//! The action cache: which blobs an action made.

mod lookup;
mod record;

pub(crate) use lookup::read_if_there;
pub use lookup::{Lookup, MissReason};
pub use record::ActionResult;

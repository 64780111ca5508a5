//! Bytes by the digest of their contents.

mod condition;
mod map;
mod mapped;
mod materialise;
mod put;
mod reference;
mod shared;
mod writer;

pub(crate) use condition::Condition;
pub use mapped::Blob;
pub use reference::BlobRef;
pub use writer::BlobWriter;

//! Bytes by the digest of their contents.

mod condition;
mod mapped;
mod materialise;
mod put;
mod reference;
mod shared;
mod verified;
mod writer;

pub(crate) use condition::Condition;
pub use mapped::Blob;
pub use reference::BlobRef;
pub(crate) use verified::Verified;
pub use writer::BlobWriter;

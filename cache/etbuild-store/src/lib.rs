//! The content-addressed store: digests, blobs, action cache, locks, garbage collection.
//!
//! A [`Store`] is one folder that any number of processes share. The store owns bytes without interpreting the bytes:
//! a *blob* is named by the BLAKE3 digest of the bytes, an *action* by the digest of all inputs
//! ([`KeyBuilder`]), and a *record* says which blobs an action made. The folder is laid out as
//!
//! ```text
//! CACHEDIR.TAG                  tells backup programs to leave the folder out
//! v1/cas/ab/<62 hex>            blobs, mode 0444, never written in place; or second names of large files of other owners
//! v1/ac/ab/<62 hex>             records, checksummed
//! v1/tmp/<pid>-<start>-<n>/     files being written; swept once their process is gone
//! v1/locks/<64 hex>             one lock file per action being run
//! v1/gc.lock                    held shared by builds, exclusively by garbage collection
//! v1/checked                    dated at the last check of the size
//! v1/history/, v1/memo/         last keys for `explain`; facts about tools
//! v1/roots/                     artifacts to keep, by unit
//! v1/quarantine/                blobs whose bytes did not fit the name
//! ```
//!
//! What holds at every moment, whoever is killed: a file under its final name is whole (it was renamed there); a
//! flipped bit is found before the bytes are used; a record that names a blob which is gone is a miss.

mod action;
mod blob;
mod digest;
mod error;
mod event;
mod file_lock;
mod history;
mod key;
mod layout;
mod lease;
mod lock;
mod memo;
mod observer;
mod process;
mod scratch;
mod sealed;
mod store;
mod upkeep;
mod verified;

pub use action::{ActionResult, Lookup, MissReason};
pub use blob::{Blob, BlobRef, BlobWriter};
pub use digest::{Digest, Hasher, ParseDigestError};
pub use error::StoreError;
pub use event::{Damage, Event};
pub use key::{ActionKey, Class, Component, Difference, Key, KeyBuilder, Value};
pub use lease::Lease;
pub use lock::{Guard, Holder};
pub use observer::Observer;
pub use store::Store;
pub use upkeep::{Finding, GcPolicy, GcReport, Root, Statistics};

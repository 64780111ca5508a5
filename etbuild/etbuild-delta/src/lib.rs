//! Deltas between two deployed versions, and bundles of the versions for several targets.
//!
//! A program file is cut into its flatbuffer and its weights (`cut`). Weights with the digest of old weights are copied, wherever the old
//! weights are; other weights are compared with the old weights of the same name or place, byte by byte (`near`); everything else, such as
//! machine code, is searched for in the old file by blocks (`search`). Files are mapped, and new bytes leave in pieces of 1 MiB.
//!
//! A bundle (`bundle`) has the same parts as pieces, each once.

mod body;
mod bundle;
mod cut;
mod error;
mod key;
mod make;
mod near;
mod search;
mod version;

pub use bundle::{BundleSource, Bundled, make_bundle};
pub use error::Error;
pub use key::{public_key, secret_key};
pub use make::{Made, make};
pub use version::{VersionFile, version_files};

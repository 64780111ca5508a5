//! Updates over the air: a delta between two deployed versions, applied so that an old or the new version runs after a power cut.
//!
//! A delta ([`Header`], then compressed pieces of [`Operation`]s) makes the new files of old files. [`apply`] writes the new files beside the old
//! files, checks the digests, and switches by a record on the disk: a process that stops at any moment leaves a record that the next process
//! completes ([`recover`]). [`rollback`] switches back. [`main`] is the part of a binary that takes updates.
//!
//! A bundle ([`Manifest`], then pieces that targets share) has the versions for several targets: [`choose`] takes the one for a [`Machine`], and
//! [`install`] writes its files as an update does.
//!
//! Memory: the header and a piece of at most [`PIECE_SIZE`] bytes, whatever the size of the model.

mod apply;
mod base;
mod binary;
mod binary_facts;
mod bundle;
mod change;
mod delta;
mod disk;
mod envelope;
mod error;
mod first_start;
mod header;
mod install;
mod kind;
mod limits;
mod machine;
mod manifest;
mod operation;
pub mod outside;
mod place;
mod reader;
mod rebuild;
mod record;
mod recover;
mod rollback;
mod signature;
mod system_disk;
mod trial;

pub use apply::{Applied, apply};
pub use binary::main;
pub use binary_facts::Binary;
pub use bundle::Bundle;
pub use change::{FileChange, Piece, Version};
pub use delta::Delta;
pub use disk::{Disk, NewFile, ReadSeek};
pub use envelope::{SIGNATURE_SIZE, write_start};
pub use error::Error;
pub use header::Header;
pub use install::install;
pub use kind::Kind;
pub use limits::{PIECE_SIZE, STORED_MOST};
pub use machine::{Machine, choose};
pub use manifest::{Entry, EntryFile, Manifest};
pub use operation::{Operation, OperationWriter, Operations};
pub use place::{Place, is_file_name};
pub use rebuild::{Bases, rebuild};
pub use recover::{Recovery, recover};
pub use rollback::{confirm, rollback};
pub use signature::{PublicKey, SecretKey, Signature, sign};
pub use system_disk::SystemDisk;
pub use trial::{STARTS_MOST, Trial, begin_trial, end_trial};

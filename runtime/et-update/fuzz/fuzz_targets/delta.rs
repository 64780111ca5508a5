//! Deltas on arbitrary bytes, past the digests: the bytes are a header, and the operations of a piece under a header that names their digest.
//! The result must be a new file of the size that the header says, or an error that lays the blame on the delta.
//!
//! `cargo +nightly fuzz run delta --fuzz-dir runtime/et-update/fuzz CORPUS`

#![no_main]

use std::io::{Cursor, sink};

use et_update::{Bases, Delta, Error, FileChange, Header, Kind, PIECE_SIZE, Piece, ReadSeek, Version, rebuild, write_start};
use libfuzzer_sys::fuzz_target;

const OLD: &[u8] = b"the bytes of an old file, long enough for copies";

fuzz_target!(|bytes: &[u8]| {
    opened(bytes);
    let Some((size, operations)) = bytes.split_first_chunk() else { return };
    let after = Version { size: u64::from(u16::from_le_bytes(*size)), digest: blake3::hash(bytes) };
    made(after, operations);
});

/// The delta with the bytes as a header.
fn opened(header: &[u8]) {
    let mut delta = Vec::new();
    write_start(Kind::Update, header, None, &mut delta).expect("memory takes all bytes");
    if let Ok(delta) = Delta::open(Box::new(Cursor::new(delta))) {
        assert_eq!(delta.header.encode().ok().as_deref(), Some(header));
    }
}

/// The new file of a piece with the operations.
fn made(after: Version, operations: &[u8]) {
    let stored = operations.get(..PIECE_SIZE).unwrap_or(operations);
    let piece = Piece { stored: stored.len() as u32, size: stored.len() as u32, digest: blake3::hash(stored) };
    let before = Some(Version { size: OLD.len() as u64, digest: blake3::hash(OLD) });
    let file = FileChange { name: "a".into(), executable: false, before, after: Some(after), pieces: vec![piece] };
    let header = Header { name: "a".into(), files: vec![file] };
    let Ok(header) = header.encode() else { return };
    let mut delta = Vec::new();
    write_start(Kind::Update, &header, None, &mut delta).expect("memory takes all bytes");
    delta.extend(stored);
    let Ok(mut delta) = Delta::open(Box::new(Cursor::new(delta))) else { return };
    let mut bases: Bases = vec![Some(Box::new(Cursor::new(OLD)) as Box<dyn ReadSeek>)];
    let done = rebuild(&mut delta, 0, &mut bases, &mut sink(), &|_| Error::NoEarlierVersion);
    assert!(matches!(done, Ok(_) | Err(Error::Malformed(_))));
}

//! Deltas made by hand.

use std::io::Cursor;

use et_update::{
    Delta, FileChange, Header, Kind, Operation, OperationWriter, Piece, SecretKey, Version, sign, write_start,
};

/// The bytes of files by name.
pub type Files = [(&'static str, &'static [u8])];

/// The digest and the size of bytes.
pub fn version(bytes: &[u8]) -> Version {
    Version { size: bytes.len() as u64, digest: blake3::hash(bytes) }
}

/// A delta between two folders: the old bytes that the new file begins with, and data.
pub fn delta(name: &str, old: &Files, new: &Files, key: Option<&SecretKey>) -> Vec<u8> {
    let mut names: Vec<&str> = old.iter().chain(new).map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    let find = |files: &Files, name: &str| files.iter().find(|(own, _)| *own == name).map(|(_, bytes)| *bytes);
    let (mut files, mut body) = (Vec::new(), Vec::new());
    for (index, name) in names.iter().enumerate() {
        let (before, after) = (find(old, name), find(new, name));
        let pieces = match after {
            Some(after) if before != Some(after) => vec![piece(index, before.unwrap_or_default(), after, &mut body)],
            _ => Vec::new(),
        };
        let executable = !name.contains('.');
        files.push(FileChange {
            name: (*name).to_owned(),
            executable,
            before: before.map(version),
            after: after.map(version),
            pieces,
        });
    }
    let header = Header { name: name.to_owned(), files }.encode().unwrap();
    let signature = key.map(|key| sign(key, Kind::Update, blake3::hash(&header)));
    let mut bytes = Vec::new();
    write_start(Kind::Update, &header, signature.as_ref(), &mut bytes).unwrap();
    [bytes, body].concat()
}

fn piece(file: usize, old: &[u8], new: &[u8], body: &mut Vec<u8>) -> Piece {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let patched = old.len().min(new.len()) - same;
    let mut writer = OperationWriter::default();
    let difference = |(new, old): (&u8, &u8)| new.wrapping_sub(*old);
    let differences: Vec<u8> = new[same..same + patched].iter().zip(&old[same..]).map(difference).collect();
    if !old.is_empty() {
        writer.push(Operation::Copy { file, offset: 0, length: same as u64 });
        writer.push(Operation::Patch { file, offset: same as u64, differences: &differences });
    }
    writer.push(Operation::Data(&new[same + patched..]));
    stored(writer.into_bytes(), body)
}

/// A piece, compressed if that makes the piece shorter.
pub fn stored(operations: Vec<u8>, body: &mut Vec<u8>) -> Piece {
    let size = operations.len() as u32;
    let compressed = miniz_oxide::deflate::compress_to_vec(&operations, 6);
    let stored = if compressed.len() < operations.len() { compressed } else { operations };
    let piece = Piece { stored: stored.len() as u32, size, digest: blake3::hash(&stored) };
    body.extend(stored);
    piece
}

/// Opens the bytes of a delta.
pub fn open(bytes: &[u8]) -> Result<Delta, et_update::Error> {
    Delta::open(Box::new(Cursor::new(bytes.to_vec())))
}

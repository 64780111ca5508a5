//! The changes of a delta, as its header states them.

use blake3::Hash;

/// The change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The name in the folder of the deployed version.
    pub name: String,
    /// Whether the new file is executable.
    pub executable: bool,
    /// The old bytes; `None` for a file that the old version lacks.
    pub before: Option<Version>,
    /// The new bytes; `None` for a file that the new version lacks.
    pub after: Option<Version>,
    /// The pieces that make the new bytes; empty for an unchanged file.
    pub pieces: Vec<Piece>,
}

impl FileChange {
    /// Whether both versions have the same bytes.
    pub fn is_same(&self) -> bool {
        self.before == self.after
    }
}

/// The bytes of a file, known by size and digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The number of bytes.
    pub size: u64,
    /// BLAKE3 of the bytes.
    pub digest: Hash,
}

/// A piece of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The bytes in the delta, at most [`STORED_MOST`](crate::STORED_MOST).
    pub stored: u32,
    /// The bytes of the operations, at most [`PIECE_SIZE`](crate::PIECE_SIZE); `stored` for a piece without compression.
    pub size: u32,
    /// BLAKE3 of the stored bytes.
    pub digest: Hash,
}

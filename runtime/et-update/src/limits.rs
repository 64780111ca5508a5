//! The limits of a delta, which bound the memory of an application.

/// The most bytes of operations in a piece.
pub const PIECE_SIZE: usize = 1 << 20;

/// The most stored bytes of a piece: a piece that compression does not shorten is stored as it is.
pub const STORED_MOST: usize = PIECE_SIZE;

/// The most bytes of a header: 10,000 pieces and more, 10 GB of new data.
pub const HEADER_MOST: usize = 16 << 20;

/// The most files of a delta.
pub const FILES_MOST: usize = 1024;

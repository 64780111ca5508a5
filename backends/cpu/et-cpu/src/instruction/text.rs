//! What language models add: positions, caches, and tables that are looked up.

use super::operand::{Groups, Place};
use crate::record::{SlotNumber, records};

records! {
    /// Which rows of a piece of text there are.
    pub struct Piece {
        /// A 64-bit integer: the position of the first row.
        pub start: Place,
        /// A 64-bit integer: which row is the last that is a token.
        pub last: Place,
    }

    /// Pairs of elements turned by the angles of their row's position.
    pub struct Rotate {
        /// `[rows, heads, depth]`.
        pub input: Place,
        /// Likewise.
        pub output: Place,
        /// The slot of `[positions, pairs]`.
        pub cosines: SlotNumber,
        /// Likewise.
        pub sines: SlotNumber,
        /// The positions of the rows.
        pub piece: Piece,
        /// Rows, heads, depth, positions and pairs.
        pub sizes: [u32; 5],
    }

    /// Attention of a piece of text to a cache, in which position `p` is in slot `p % slots`.
    pub struct AttendCache {
        /// `[rows, heads, depth]`.
        pub query: Place,
        /// `[slots, key heads, depth]`, each row with what is behind it.
        pub keys: Place,
        /// Likewise.
        pub values: Place,
        /// `[rows, heads, depth]`.
        pub output: Place,
        /// The positions of the rows.
        pub piece: Piece,
        /// Rows, heads, heads of keys, depth and slots.
        pub sizes: [u32; 5],
        /// What the scores are multiplied with.
        pub scale: f32,
        /// How many positions a row sees, or 0 for all.
        pub window: u32,
        /// Scores are bent towards this, unless it is 0.
        pub soft_cap: f32,
        /// In what keys and values are kept: 0 for `float32`, 1 for half precision, 2 for bytes with the four bytes of a row's
        /// scale behind its numbers.
        pub kept: u32,
    }

    /// Rows of a table by their index.
    pub struct Gather {
        /// The table.
        pub table: Place,
        /// The indices, 64-bit.
        pub indices: Place,
        /// The rows.
        pub output: Place,
        /// Rows of the table.
        pub limit: u32,
        /// Number of indices.
        pub count: u32,
        /// Bytes of a row.
        pub width: u32,
    }

    /// Columns of packed weights of a byte or half a byte by their index: rows of the table whose transpose they are.
    pub struct GatherColumns {
        /// The slot of the packed weights, without biases.
        pub weights: SlotNumber,
        /// The indices, 64-bit.
        pub indices: Place,
        /// The rows, dense.
        pub output: Place,
        /// Indices, elements of a row, rows of the table.
        pub sizes: [u32; 3],
        /// How the weights are packed, where they are half bytes.
        pub groups: Groups,
    }
}

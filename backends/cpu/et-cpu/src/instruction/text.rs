//! Operators of language models: RoPE, attention with a KV cache, and embedding lookup.

use et_record::{Write, numbered, records};

use super::operand::{Place, Weights};
use crate::record::SlotNumber;

records! {
    /// The token positions of a prefill chunk or decode step.
    pub struct Piece {
        /// The position of the first row, a 64-bit integer tensor.
        pub start: Place,
        /// The index of the last row that is a token (not padding), a 64-bit integer tensor.
        pub last: Place,
    }

    /// RoPE: rotates pairs of elements by the angles of the row's position.
    pub struct Rotate {
        /// The input tensor `[rows, heads, depth]`.
        pub input: Place,
        /// The output tensor `[rows, heads, depth]`.
        pub output: Write<Place>,
        /// The slot of the cosine table `[positions, pairs]`.
        pub cosines: SlotNumber,
        /// The slot of the sine table `[positions, pairs]`.
        pub sines: SlotNumber,
        /// The positions of the rows.
        pub piece: Piece,
        /// Rows, heads, depth, positions and pairs.
        pub sizes: [u32; 5],
        /// Which elements of a head are a pair.
        pub pairing: RotaryPairing,
    }

    /// Attention of query rows to a KV cache, a ring buffer with position `p` in slot `p % slots`.
    pub struct AttendCache {
        /// The query tensor `[rows, heads, depth]`.
        pub query: Place,
        /// The key cache `[slots, key heads, depth]`; an int8 row is followed by its scale.
        pub keys: Place,
        /// The value cache, with the layout of `keys`.
        pub values: Place,
        /// The output tensor `[rows, heads, columns]`.
        pub output: Write<Place>,
        /// The positions of the rows.
        pub piece: Piece,
        /// Query rows, query heads, KV heads, depth and cache slots.
        pub sizes: [u32; 5],
        /// The first elements of a value that count.
        pub columns: u32,
        /// The factor of the logits.
        pub scale: f32,
        /// The sliding window of the attention in positions, or 0 for full attention.
        pub window: u32,
        /// The soft cap of the logits, or 0 for uncapped logits.
        pub soft_cap: f32,
        /// The dtype of the KV cache.
        pub cache: CacheType,
        /// The numbers `[heads, cache slots]` that are added to the scores of keys by distance, the nearest last; may be absent.
        pub distances: Place,
        /// The scores `[heads]` of a key without a value; may be absent.
        pub sinks: Place,
    }

    /// Attention of query rows that see each other, in both directions, and a KV cache.
    pub struct AttendBlock {
        /// The same for rows that see the rows up to their own.
        pub causal: AttendCache,
    }

    /// Attention of rows to the rows of their own segment, in both directions.
    pub struct AttendSegments {
        /// The query tensor `[rows, heads, depth]`.
        pub query: Place,
        /// The key tensor `[rows, heads, depth]`.
        pub keys: Place,
        /// The value tensor `[rows, heads, depth]`.
        pub values: Place,
        /// The output tensor `[rows, heads, depth]`.
        pub output: Write<Place>,
        /// The index behind the last row of each row's segment, a 64-bit integer tensor `[rows]`.
        pub ends: Place,
        /// Rows, heads and depth.
        pub sizes: [u32; 3],
        /// The factor of the logits.
        pub scale: f32,
    }

    /// Embedding lookup: table rows by index.
    pub struct Gather {
        /// The embedding table.
        pub table: Place,
        /// The index tensor, 64-bit.
        pub indices: Place,
        /// The output tensor.
        pub output: Write<Place>,
        /// Rows of the table.
        pub limit: u32,
        /// Number of indices.
        pub count: u32,
        /// Bytes of a row.
        pub width: u32,
    }

    /// Embedding lookup in packed weights: columns by index, the rows of a tied table whose transpose is packed.
    pub struct GatherColumns {
        /// The packed weights, without bias.
        pub weights: Weights,
        /// The index tensor, 64-bit.
        pub indices: Place,
        /// The contiguous output tensor.
        pub output: Write<Place>,
        /// Indices, embedding dimension, rows of the table.
        pub sizes: [u32; 3],
    }
}

numbered! {
    /// Which elements of a head RoPE turns together.
    pub enum RotaryPairing {
        /// An element of the first half and the element of the second half.
        Halves,
        /// Neighbours.
        Neighbours,
    }

    /// The dtype of a KV cache.
    pub enum CacheType {
        /// f32.
        F32,
        /// FP16.
        F16,
        /// int8, with an f32 scale behind the elements of each row.
        Int8,
    }
}

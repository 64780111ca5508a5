//! Attention, and products in which both sides are computed.

use super::operand::Place;
use crate::record::records;

records! {
    /// `[batch, heads, tokens, depth]` by strides; neighbours in depth are neighbours in memory.
    pub struct Heads {
        /// The first element.
        pub place: Place,
        /// Elements between batches, heads and tokens.
        pub strides: [u32; 3],
    }

    /// Scaled dot-product attention.
    pub struct Attention {
        /// Queries.
        pub query: Heads,
        /// Keys.
        pub key: Heads,
        /// Values.
        pub value: Heads,
        /// The results.
        pub output: Heads,
        /// Added to the scores `[batch, heads, queries, keys]`, each stride 0 where it is shared; an absent place for none.
        pub bias: Heads,
        /// The second summand of the scores, likewise.
        pub mask: Heads,
        /// Batches, heads, queries, keys and depth.
        pub sizes: [u32; 5],
        /// What the scores are multiplied with.
        pub scale: f32,
        /// 1 where a query sees no later key.
        pub causal: u32,
    }

    /// Matrices by strides.
    pub struct Matrices {
        /// The first element.
        pub place: Place,
        /// Elements between matrices, rows and columns.
        pub strides: [u32; 3],
    }

    /// `output[b] = left[b] x right[b]`, where both are computed.
    pub struct BatchMatmul {
        /// `[batches, rows, inner]`: elements between batches and rows; neighbours in a row are neighbours.
        pub left: Matrices,
        /// `[batches, inner, columns]`, of which one of the last two strides is 1.
        pub right: Matrices,
        /// `[batches, rows, columns]`, likewise as `left`.
        pub output: Matrices,
        /// Batches, rows, inner and columns.
        pub sizes: [u32; 4],
    }
}

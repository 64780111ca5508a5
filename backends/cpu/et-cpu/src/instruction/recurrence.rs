//! Operators of recurrent language models: linear attention, selective state spaces, and short convolutions.

use et_record::{Write, records};

use super::operand::Place;
use super::text::Piece;

records! {
    /// A state of one size that every token changes: the gated delta rule where `shares` is present, otherwise a selective scan.
    pub struct Recurrence {
        /// The values `[rows, heads, depth]`.
        pub values: Place,
        /// The keys `[rows, groups, width]`.
        pub keys: Place,
        /// The queries, with the shape of `keys`.
        pub queries: Place,
        /// The step sizes `[rows, heads]`, ahead of bias and softplus.
        pub steps: Place,
        /// The shares of the gated delta rule `[rows, heads]`; absent for a selective scan.
        pub shares: Place,
        /// The rates `[heads, rates of a head]`.
        pub rates: Place,
        /// The biases of steps `[heads]`; may be absent.
        pub biases: Place,
        /// The factors `[heads]` of values that are added to the output of a selective scan; may be absent.
        pub skips: Place,
        /// The state ahead of the rows `[heads, depth, width]`, which does not count for a text that begins.
        pub before: Place,
        /// The state behind the last token.
        pub behind: Write<Place>,
        /// The output `[rows, heads, depth]`, zero in rows behind the last token.
        pub output: Write<Place>,
        /// The positions of the rows; the last row is -1 for no token.
        pub piece: Piece,
        /// Rows, heads, groups, depth and width.
        pub sizes: [u32; 5],
        /// Rates of a head: 1, or one for each element of a row of the state.
        pub rates_of_head: u32,
    }

    /// Causal depthwise convolution of rows, of which earlier rows are in a ring buffer with position `p` in slot `p % slots`.
    pub struct ConvCache {
        /// The rows `[rows, channels]`.
        pub rows: Place,
        /// The ring buffer `[slots, channels]`.
        pub cache: Place,
        /// The weights by kernel position `[length, channels]`.
        pub weights: Place,
        /// The bias `[channels]`; may be absent.
        pub bias: Place,
        /// The output `[rows, channels]`.
        pub output: Write<Place>,
        /// The positions of the rows.
        pub piece: Piece,
        /// Rows, channels, kernel length and slots.
        pub sizes: [u32; 4],
    }
}

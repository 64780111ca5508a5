//! Embedding bags.

use et_record::{Write, numbered, records};

use super::operand::Place;

records! {
    /// The rows of a table that each bag of indices selects, reduced.
    pub struct EmbeddingBag {
        /// The table `[rows, width]`.
        pub table: Place,
        /// The indices of all bags, int64.
        pub indices: Place,
        /// The first index of each bag, int64; a bag ends where the next one begins, if any.
        pub offsets: Place,
        /// A factor for each index of a sum; may be absent.
        pub weights: Place,
        /// The output `[bags, width]`.
        pub output: Write<Place>,
        /// Rows of the table.
        pub rows: u32,
        /// Elements of a row.
        pub width: u32,
        /// Indices of all bags.
        pub count: u32,
        /// Bags.
        pub bags: u32,
        /// Whether an offset more is the end of the last bag.
        pub has_end: bool,
        /// The row of the table that bags leave out, PyTorch's `padding_idx`; negative for none.
        pub skipped: i32,
        /// How the rows are reduced.
        pub reduction: BagReduction,
    }
}

numbered! {
    /// How the rows of a bag are reduced.
    pub enum BagReduction {
        /// The sum.
        Sum,
        /// The mean.
        Mean,
        /// The greatest element of each column.
        Max,
    }
}

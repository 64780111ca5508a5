//! GEMMs of which each token chooses some: the experts of a mixture.

use et_record::{Write, records};

use super::conv2d::Conv2d;
use super::operand::Place;

records! {
    /// The GEMMs of the chosen experts. Output row `token * chosen + slot` is the product of an input row and of the weights of expert
    /// `experts[token, slot]`. Each expert's weights are read once for all rows of a batch, and those of other experts never.
    pub struct ExpertGemm {
        /// The GEMM of all output rows. The packed weights of each expert follow those of the expert before, from a cache line on.
        pub gemm: Conv2d,
        /// The experts by number, int64 `[tokens, chosen]`.
        pub experts: Place,
        /// The number of experts.
        pub count: u32,
        /// The experts that a token chooses.
        pub chosen: u32,
        /// Whether the input has a row for each token instead of a row for each output row.
        pub is_shared: bool,
        /// 32-bit integers: the output rows in the order of their experts, and where the rows of each expert end.
        pub order: Write<Place>,
    }
}

impl ExpertGemm {
    /// The elements of the order.
    pub const fn order(rows: usize, count: usize) -> usize {
        rows.saturating_add(count)
    }
}

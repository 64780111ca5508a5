//! Attention, and batched matmul of two activation tensors.

use et_record::{Write, records};

use super::operand::Place;

records! {
    /// A tensor `[batch, heads, tokens, depth]` with strides; the stride of depth is 1.
    pub struct Heads {
        /// The first element of the tensor.
        pub place: Place,
        /// Strides of batch, heads and tokens, in elements.
        pub strides: [u32; 3],
    }

    /// Scaled dot-product attention.
    pub struct Attention {
        /// The query tensor.
        pub query: Heads,
        /// The key tensor.
        pub key: Heads,
        /// The value tensor.
        pub value: Heads,
        /// The output tensor.
        pub output: Write<Heads>,
        /// The bias added to the logits `[batch, heads, queries, keys]`: stride 0 broadcasts a dimension, an absent place means no bias.
        pub bias: Heads,
        /// The attention mask added to the logits, with strides like the bias.
        pub mask: Heads,
        /// Batches, heads, queries, keys and depth.
        pub sizes: [u32; 5],
        /// The factor of the logits.
        pub scale: f32,
        /// Causal attention: a query sees no later key.
        pub causal: bool,
    }

    /// A batch of matrices with strides.
    pub struct Matrices {
        /// The first element of the tensor.
        pub place: Place,
        /// Strides of matrices, rows and columns, in elements.
        pub strides: [u32; 3],
    }

    /// Batched matmul of two activation tensors: `output[b] = left[b] x right[b]`.
    pub struct BatchMatmul {
        /// The tensor `[batches, rows, inner]` with strides of batches and rows; the stride of inner is 1.
        pub left: Matrices,
        /// The tensor `[batches, inner, columns]`; one of the last two strides is 1.
        pub right: Matrices,
        /// The tensor `[batches, rows, columns]` with the strides of `left`.
        pub output: Write<Matrices>,
        /// Batches, rows, inner and columns.
        pub sizes: [u32; 4],
    }
}

//! Attention, and batched matmul of two activation tensors.

use et_record::{Write, records};

use super::operand::Place;

records! {
    /// A tensor with three strides: `[batch, heads, tokens, depth]`, where the stride of depth is 1, or a batch of matrices.
    pub struct Strided {
        /// The first element of the tensor.
        pub place: Place,
        /// Strides of batch, heads and tokens, or of matrices, rows and columns, in elements.
        pub strides: [u32; 3],
    }

    /// Scaled dot-product attention.
    pub struct Attention {
        /// The query tensor.
        pub query: Strided,
        /// The key tensor.
        pub key: Strided,
        /// The value tensor.
        pub value: Strided,
        /// The output tensor.
        pub output: Write<Strided>,
        /// The bias added to the logits `[batch, heads, queries, keys]`: stride 0 broadcasts a dimension, an absent place means no bias.
        pub bias: Strided,
        /// The attention mask added to the logits, with strides like the bias.
        pub mask: Strided,
        /// Batches, heads, queries, keys and depth.
        pub sizes: [u32; 5],
        /// The factor of the logits.
        pub scale: f32,
        /// Causal attention: a query sees no later key.
        pub causal: bool,
    }

    /// Batched matmul of two activation tensors: `output[b] = left[b] x right[b]`.
    pub struct BatchMatmul {
        /// The tensor `[batches, rows, inner]` with strides of batches and rows; the stride of inner is 1.
        pub left: Strided,
        /// The tensor `[batches, inner, columns]`; one of the last two strides is 1.
        pub right: Strided,
        /// The tensor `[batches, rows, columns]` with the strides of `left`.
        pub output: Write<Strided>,
        /// Batches, rows, inner and columns.
        pub sizes: [u32; 4],
    }
}

//! `etbuild`: random numbers of a seed, and KV cache, RoPE and mixture-of-experts operators of language models that run in prefill chunks, for which ATen has no
//! operators.
//!
//! The operators of positions share two arguments: `start`, the token position of the first row, and `last`, the index of the last
//! row that holds a token; rows behind `last` are padding. KV caches are `[batch, slots, heads, depth]`, so that the
//! rows of a chunk are written in the layout that the projection GEMM produces. Each KV cache is a ring buffer: the row
//! of a position lies in slot `position % slots`.

mod byte_row;
mod span;
mod state;

pub mod attend_block;
pub mod attend_cache;
pub mod attend_segments;
pub mod choose_experts;
pub mod conv_cache;
pub mod expert_linear;
pub mod gated_delta;
pub mod normal;
pub mod rotate;
pub mod selective_scan;
pub mod uniform;
pub mod write_cache;

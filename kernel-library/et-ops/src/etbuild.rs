//! `etbuild`: what language models do with tokens that come in pieces, which ATen has no operators for.
//!
//! The operators share two arguments: `start`, the position of the first row in the text, and `last`, the last row that is a
//! token; rows behind it fill the tensor up. Caches are `[batch, slots, heads, depth]`, so that the rows of a piece, as a
//! projection computes them, are written as they are; the row of a position lies in slot `position % slots`.

pub mod attend_cache;
pub mod rotate;
pub mod write_cache;

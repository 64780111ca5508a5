//! The program of a decoder, from its description.

mod attention;
mod feed_forward;
mod method;
mod sides;
mod sketch;
mod weights;

use std::collections::BTreeMap;

use etbuild_ir::Graph;

use crate::{CheckpointError, DECODE, Decoder, PREFILL};
pub use weights::Weights;

/// The methods of a decoder: for a piece of tokens at once, with the logits behind the last of them or behind `every` one, and for
/// one token.
pub fn build(
    decoder: &Decoder,
    mut weights: Weights<'_>,
    every: bool,
) -> Result<BTreeMap<String, Graph>, Vec<CheckpointError>> {
    let piece = weights.piece;
    let mut methods = BTreeMap::new();
    for (name, tokens) in [(PREFILL, piece), (DECODE, 1)] {
        methods.insert(name.to_owned(), method::build(decoder, &mut weights, tokens, every));
    }
    let errors = weights.finish();
    if errors.is_empty() { Ok(methods) } else { Err(errors) }
}

//! The program of a decoder, from the description.

mod adapted;
mod attention;
mod feed_forward;
mod linear;
mod method;
mod sides;
mod sketch;
mod weights;

use std::collections::BTreeMap;

use etbuild_ir::Graph;

use crate::{CheckpointError, DECODE, Decoder, Options, PREFILL, VERIFY};
pub use weights::Weights;

/// The methods of a decoder: for a piece of tokens at once, with the logits behind the last token or behind `every` token, for
/// one token, and for a few tokens with the logits behind each.
pub fn build(
    decoder: &Decoder,
    mut weights: Weights<'_>,
    options: Options,
) -> Result<BTreeMap<String, Graph>, Vec<CheckpointError>> {
    let (piece, every) = (weights.piece, options.every);
    let verify = options.speculate.map(|tokens| (VERIFY, tokens.clamp(1, piece), true));
    let mut methods = BTreeMap::new();
    for (name, tokens, every) in [(PREFILL, piece, every), (DECODE, 1, every)].into_iter().chain(verify) {
        methods.insert(name.to_owned(), method::build(decoder, &mut weights, tokens, every));
    }
    let errors = weights.finish();
    if errors.is_empty() { Ok(methods) } else { Err(errors) }
}

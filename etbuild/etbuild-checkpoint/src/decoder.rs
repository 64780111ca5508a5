//! The program of a decoder, from its description.

mod attention;
mod feed_forward;
mod method;
mod sides;
mod sketch;
mod weights;

use std::collections::BTreeMap;

use etbuild_ir::Graph;

use crate::shards::Tensors;
use crate::{CheckpointError, DECODE, Decoder, Keeper, PREFILL};
use weights::Weights;

/// The methods of a decoder for texts of so many tokens: for `piece` tokens at once, and for one. Where the model is rotated,
/// `rotating` makes its matrices.
pub fn build(
    decoder: &Decoder,
    tensors: Tensors,
    rotating: Option<&dyn Keeper>,
    [context, piece]: [u32; 2],
) -> Result<BTreeMap<String, Graph>, Vec<CheckpointError>> {
    let mut weights = Weights::new(decoder, tensors, rotating, [context, piece]);
    let mut methods = BTreeMap::new();
    for (name, tokens) in [(PREFILL, piece), (DECODE, 1)] {
        methods.insert(name.to_owned(), method::build(decoder, &mut weights, tokens));
    }
    let errors = weights.finish();
    if errors.is_empty() { Ok(methods) } else { Err(errors) }
}

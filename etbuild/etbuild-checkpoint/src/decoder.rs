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
use crate::{CheckpointError, DECODE, Decoder, Keeper, Options, PREFILL};
use weights::Weights;

/// The methods of a decoder for texts of so many tokens: for a piece of them at once, and for one. Where the model is rotated,
/// `keeper` makes its matrices.
pub fn build(
    decoder: &Decoder,
    tensors: Tensors,
    keeper: &dyn Keeper,
    context: u32,
    options: Options,
) -> Result<BTreeMap<String, Graph>, Vec<CheckpointError>> {
    let mut weights = Weights::new(decoder, tensors, keeper, context, options);
    let mut methods = BTreeMap::new();
    for (name, tokens) in [(PREFILL, options.prefill), (DECODE, 1)] {
        methods.insert(name.to_owned(), method::build(decoder, &mut weights, tokens));
    }
    let errors = weights.finish();
    if errors.is_empty() { Ok(methods) } else { Err(errors) }
}

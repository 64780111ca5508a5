//! The program of a decoder, from the description.

mod align;
mod attention;
mod cross;
mod experts;
mod feed_forward;
mod hearing;
mod hidden;
mod layer;
pub mod layer_inputs;
mod linear;
mod method;
mod mixer;
mod parts;
mod places;
mod sides;
mod source;
pub mod streams;
mod text;
mod vision;
mod weights;

use std::collections::BTreeMap;

use etbuild_ir::Graph;

use crate::{CheckpointError, Decoder, Method, Options};
pub use method::Ending;
pub use weights::Weights;

/// The methods of a decoder: for chunks of tokens, with the logits behind the last token or behind `every` token, for one token, and
/// for a few tokens with the logits behind each.
pub fn build(
    decoder: &Decoder,
    mut weights: Weights<'_>,
    options: &Options,
    ending: Ending,
) -> Result<BTreeMap<String, Graph>, Vec<CheckpointError>> {
    let longest = weights.piece;
    let mut methods = BTreeMap::new();
    for method in options.methods() {
        let graph = match method {
            Method::Batch(texts) => method::build_batch(decoder, &mut weights, texts),
            Method::VisionEncoder => vision::build(decoder, &mut weights),
            Method::AudioEncoder => hearing::build(decoder, &mut weights),
            Method::Align => align::build(decoder, &mut weights),
            Method::TextEncoder => source::build(decoder, &mut weights),
            Method::Image | Method::Audio => method::build_tile(decoder, &mut weights),
            _ => {
                let tokens = options.tokens(method, longest).clamp(1, longest);
                let every = options.every || method == Method::Verify;
                method::build(decoder, &mut weights, tokens, (every, ending))
            }
        };
        methods.insert(method.name(), graph);
    }
    let errors = weights.finish();
    if errors.is_empty() { Ok(methods) } else { Err(errors) }
}

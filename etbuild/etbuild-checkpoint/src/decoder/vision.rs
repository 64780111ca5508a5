//! The vision encoder: pixels of a tile, or patches of a picture, in; embeddings of image tokens out.

mod axes;
mod learned;
mod norm;
mod patch_layer;
mod patches;
mod projector;
mod squares;
mod tower;

use etbuild_ir::{Graph, ValueId};

use super::method::table;
use super::parts::Parts;
use super::weights::Weights;
use crate::sketch::Sketch;
use crate::{Decoder, VisionEncoder};

/// The method: `pixels`, `float32 [1, 3, side, side]`, or the inputs of [`patches`], in; embeddings, `float32 [1, tokens, width]`, out.
pub fn build(decoder: &Decoder, weights: &mut Weights<'_>) -> Graph {
    let mut sketch = Sketch::default();
    let mut parts = Parts { sketch: &mut sketch, weights };
    let breaks = breaks(&mut parts, decoder);
    let embeddings = match decoder.vision.as_ref().map(|vision| &vision.encoder) {
        None => return sketch.finish(Vec::new()),
        Some(VisionEncoder::Patches(tower)) => patches::build(&mut parts, decoder, tower),
        Some(VisionEncoder::Tiles(tower, projector)) => {
            let pixels = parts.sketch.numbers("pixels", &[1, 3, tower.side, tower.side]);
            let states = tower::build(&mut parts, tower, pixels);
            projector::build(&mut parts, tower, *projector, decoder.width, states)
        }
    };
    sketch.finish(breaks.into_iter().chain([embeddings]).collect())
}

/// The embeddings of the tokens `breaks`, `int64 [1, 2]`, behind a row of image tokens and behind the last row, `[1, 2, width]`, where there are
/// such.
fn breaks(parts: &mut Parts<'_, '_>, decoder: &Decoder) -> Option<ValueId> {
    let VisionEncoder::Patches(tower) = &decoder.vision.as_ref()?.encoder else { return None };
    if !tower.has_breaks() {
        return None;
    }
    let tokens = parts.sketch.input("breaks", &[1, 2]);
    parts.sketch.enter(decoder.names.embedding);
    let table = table(decoder, parts.weights);
    let embedded = parts.sketch.embed(&table, tokens);
    Some(decoder.embedding_scale.map_or(embedded, |scale| parts.sketch.scale(embedded, scale)))
}

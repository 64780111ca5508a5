//! The vision encoder: pixels of a tile, or patches of a picture, in; embeddings of image tokens out.

mod learned;
mod patches;
mod projector;
mod tower;

use etbuild_ir::Graph;

use super::parts::Parts;
use super::weights::Weights;
use crate::sketch::Sketch;
use crate::{Decoder, VisionEncoder};

/// The method: `pixels`, `float32 [1, 3, side, side]`, or the inputs of [`patches`], in; embeddings, `float32 [1, tokens, width]`, out.
pub fn build(decoder: &Decoder, weights: &mut Weights<'_>) -> Graph {
    let mut sketch = Sketch::default();
    let mut parts = Parts { sketch: &mut sketch, weights };
    let embeddings = match decoder.vision.as_ref().map(|vision| &vision.encoder) {
        None => return sketch.finish(Vec::new()),
        Some(VisionEncoder::Patches(tower)) => patches::build(&mut parts, decoder, tower),
        Some(VisionEncoder::Tiles(tower, projector)) => {
            let pixels = parts.sketch.numbers("pixels", &[1, 3, tower.side, tower.side]);
            let states = tower::build(&mut parts, tower, pixels);
            projector::build(&mut parts, tower, *projector, decoder.width, states)
        }
    };
    sketch.finish(vec![embeddings])
}

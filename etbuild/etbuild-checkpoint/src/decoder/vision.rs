//! The vision encoder: pixels of a tile in, embeddings of image tokens out.

mod projector;
mod tower;

use etbuild_ir::Graph;

use super::parts::Parts;
use super::weights::Weights;
use crate::Decoder;
use crate::sketch::Sketch;

/// The method: `pixels`, `float32 [1, 3, side, side]`, in; embeddings, `float32 [1, tokens, width]`, out.
pub fn build(decoder: &Decoder, weights: &mut Weights<'_>) -> Graph {
    let mut sketch = Sketch::default();
    let Some(vision) = &decoder.vision else { return sketch.finish(Vec::new()) };
    let side = vision.tower.side;
    let pixels = sketch.numbers("pixels", &[1, 3, side, side]);
    let mut parts = Parts { sketch: &mut sketch, weights };
    let states = tower::build(&mut parts, &vision.tower, pixels);
    let embeddings = projector::build(&mut parts, vision, decoder.width, states);
    sketch.finish(vec![embeddings])
}

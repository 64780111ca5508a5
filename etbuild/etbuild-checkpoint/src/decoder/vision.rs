//! The vision encoder: pixels of a tile in, embeddings of image tokens out.

mod projector;
mod tower;

use etbuild_ir::{Graph, ValueId};

use super::linear::{self, Linear};
use super::sides::Sides;
use super::weights::Weights;
use crate::constant::Part;
use crate::sketch::Sketch;
use crate::{Decoder, Norm, NormKind};

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

/// The graph in the making, and the weights.
struct Parts<'p, 'd> {
    sketch: &'p mut Sketch,
    weights: &'p mut Weights<'d>,
}

impl Parts<'_, '_> {
    /// A linear layer.
    fn linear(&mut self, module: &str, input: ValueId, [rows, columns]: [usize; 2], has_bias: bool) -> ValueId {
        self.sketch.enter(module);
        let layer = Linear { module, part: Part::all(rows), columns, sides: Sides::default(), has_bias };
        linear::build(self.sketch, self.weights, &layer, input)
    }

    /// `LayerNorm` of the last dimension, of so many elements.
    fn norm(&mut self, module: &str, size: usize, epsilon: f64, input: ValueId) -> ValueId {
        self.sketch.enter(module);
        let constants = ["weight", "bias"].map(|name| {
            let vector = self.weights.vector(&format!("{module}.{name}"), Part::all(size), 0.0);
            Some(self.sketch.constant(&vector))
        });
        let norm = Norm { kind: NormKind::Layer, epsilon, has_weights: true, less_one: false, has_biases: true };
        self.sketch.norm(input, constants, norm)
    }
}

//! The graph in the making with the weights, and the layers that decoders and encoders have in common.

use etbuild_ir::ValueId;

use super::linear::{self, Linear};
use super::sides::Sides;
use super::weights::Weights;
use crate::constant::Part;
use crate::sketch::Sketch;
use crate::{Norm, NormKind};

/// The graph in the making, and the weights.
pub struct Parts<'p, 'd> {
    pub sketch: &'p mut Sketch,
    pub weights: &'p mut Weights<'d>,
}

impl Parts<'_, '_> {
    /// A linear layer.
    pub fn linear(&mut self, module: &str, input: ValueId, [rows, columns]: [usize; 2], has_bias: bool) -> ValueId {
        self.sketch.enter(module);
        let layer = Linear { module, part: Part::all(rows), columns, sides: Sides::default(), has_bias };
        linear::build(self.sketch, self.weights, &layer, input)
    }

    /// Normalization of tokens with the weights of a module.
    pub fn normalize(&mut self, module: &str, norm: Norm, value: ValueId) -> ValueId {
        self.sketch.enter(module);
        let constants =
            self.weights.norm(module).map(|constant| constant.map(|constant| self.sketch.constant(&constant)));
        self.sketch.norm(value, constants, norm)
    }

    /// `LayerNorm` of the last dimension, of so many elements.
    pub fn norm(&mut self, module: &str, size: usize, epsilon: f64, input: ValueId) -> ValueId {
        self.sketch.enter(module);
        let constants = ["weight", "bias"].map(|name| {
            let vector = self.weights.vector(&format!("{module}.{name}"), Part::all(size), 0.0);
            Some(self.sketch.constant(&vector))
        });
        let norm = Norm { kind: NormKind::Layer, epsilon, has_weights: true, less_one: false, has_biases: true };
        self.sketch.norm(input, constants, norm)
    }

    /// RMSNorm of the last dimension, of so many elements.
    pub fn gain(&mut self, module: &str, size: usize, epsilon: f64, input: ValueId) -> ValueId {
        self.sketch.enter(module);
        let gains = self.weights.vector(&format!("{module}.weight"), Part::all(size), 0.0);
        let gains = self.sketch.constant(&gains);
        let kind = NormKind::RootMeanSquare;
        let norm = Norm { kind, epsilon, has_weights: true, less_one: false, has_biases: false };
        self.sketch.norm(input, [Some(gains), None], norm)
    }
}

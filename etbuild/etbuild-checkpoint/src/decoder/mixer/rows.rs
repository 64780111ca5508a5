//! What mixers without attention have in common: the convolution over time, and a norm without weights.

use etbuild_ir::{Argument, ValueId};

use crate::constant::{Constant, Part};
use crate::decoder::parts::Parts;
use crate::decoder::text::Text;
use crate::{Norm, NormKind};

/// A causal depthwise convolution over the positions of a text: its weights, `[channels, kernel]`, and its biases.
#[derive(Clone)]
pub struct OverTime {
    pub weight: Constant,
    pub bias: Option<Constant>,
    /// The name of the ring buffer with earlier rows.
    pub state: String,
}

impl OverTime {
    /// The convolution of a module of so many channels.
    pub fn of(parts: &mut Parts<'_, '_>, module: &str, [channels, kernel]: [usize; 2], has_bias: bool) -> Self {
        let weight = parts.weights.kernels(&format!("{module}.weight"), [channels, kernel]);
        let bias = has_bias.then(|| parts.weights.vector(&format!("{module}.bias"), Part::all(channels), 0.0));
        Self { weight, bias, state: format!("{module}.rows") }
    }

    /// The convolution of all texts, `[1, rows, channels]`.
    pub fn convolve(&self, parts: &mut Parts<'_, '_>, text: &Text, rows: ValueId) -> ValueId {
        let channels = parts.sketch.size(rows, 2);
        let kernel = self.weight.spec.sizes.get(1).map_or(1, |size| size.unsigned_abs() as usize);
        text.each(parts, [rows], |parts, own, [rows]| {
            let count = parts.sketch.size(rows, 1);
            let first = parts.weights.earlier_rows(channels, kernel);
            let shaped = parts.sketch.view(rows, &[1, count, 1, channels]);
            let cache = parts.sketch.update(&own.name(&self.state), &first, |sketch, cache| {
                sketch.own("etbuild.write_cache.default", &[cache, shaped, own.start, own.last], &[])
            });
            let weight = parts.sketch.constant(&self.weight);
            let bias = self.bias.as_ref().map_or(Argument::None, |bias| Argument::Value(parts.sketch.constant(bias)));
            let output = parts.sketch.like(rows);
            let [rows, cache, weight, start, last] = [rows, cache, weight, own.start, own.last].map(Argument::Value);
            parts.sketch.call("etbuild.conv_cache.default", vec![rows, cache, weight, bias, start, last], output)
        })
    }
}

/// RMSNorm of the last dimension without weights.
pub fn plain_norm(parts: &mut Parts<'_, '_>, epsilon: f64, value: ValueId) -> ValueId {
    let kind = NormKind::RootMeanSquare;
    let norm = Norm { kind, epsilon, has_weights: false, less_one: false, has_biases: false };
    parts.sketch.norm(value, [None; 2], norm)
}

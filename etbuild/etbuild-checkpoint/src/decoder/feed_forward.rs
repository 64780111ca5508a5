//! The feed-forward network.

use etbuild_ir::ValueId;

use super::linear::{self, Linear};
use super::sides::{Side, Sides};
use super::sketch::Sketch;
use super::weights::{Part, Weights};
use crate::Decoder;

/// The network of the layer whose module is `layer`, of tokens `[1, count, width]`.
pub fn build(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    layer: &str,
    input: ValueId,
) -> ValueId {
    let (network, width) = (&decoder.feed_forward, decoder.feed_forward.width);
    let module = format!("{layer}.mlp");
    let part = |first: usize| match network.fused {
        true => Part { first, count: width, all: 2 * width },
        false => Part::all(width),
    };
    let names = if network.fused { ["gate_up_proj"; 2] } else { ["gate_proj", "up_proj"] };
    let norm = format!("{layer}.post_attention_layernorm");
    let mut project = |sketch: &mut Sketch, role: &str, name: &str, part: Part, columns: usize, input: ValueId| {
        let down = Sides { reads: None, norm: None, makes: Some(Side::Tokens) };
        let sides = if role == "down_proj" { down } else { Sides::behind(&norm) };
        sketch.enter(format!("{module}.{role}"));
        let (module, has_bias) = (format!("{module}.{name}"), network.biases);
        linear::build(sketch, weights, &Linear { module: &module, part, columns, sides, has_bias }, input)
    };
    let gate = project(sketch, "gate_proj", names[0], part(0), decoder.width, input);
    let up = project(sketch, "up_proj", names[1], part(width), decoder.width, input);
    sketch.enter(module.as_str());
    let gate = sketch.activate(gate, network.activation);
    let product = sketch.multiply(gate, up);
    project(sketch, "down_proj", "down_proj", Part::all(decoder.width), width, product)
}

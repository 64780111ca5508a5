//! The feed-forward network.

use etbuild_ir::ValueId;

use super::linear::{self, Linear};
use super::sides::{Side, Sides};
use super::weights::Weights;
use crate::constant::Part;
use crate::names::{norm_within, within};
use crate::sketch::Sketch;
use crate::{Activation, Cutoff, Decoder, FeedForward, Gate, Layer};

/// A feed-forward network and the place in the model.
pub struct Network {
    /// The network.
    pub network: FeedForward,
    /// The module.
    pub module: String,
    /// The normalization ahead.
    pub norm: Option<String>,
}

/// The network of a layer, whose module is `place`, of tokens `[1, count, width]`.
pub fn build(
    decoder: &Decoder,
    layer: &Layer,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    place: &str,
    input: ValueId,
) -> ValueId {
    let (module, places) = (within(place, decoder.names.network), decoder.norm_places);
    let network = layer.network.unwrap_or(decoder.feed_forward);
    let norm = norm_within(place, places.before_network.or(places.before_attention));
    build_network(decoder, &Network { network, module, norm }, sketch, weights, input)
}

/// A network, of tokens `[1, count, width]`.
pub fn build_network(
    decoder: &Decoder,
    place: &Network,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    input: ValueId,
) -> ValueId {
    let (Network { network, module, norm }, names) = (place, &decoder.names);
    let project = |sketch: &mut Sketch, weights: &mut Weights<'_>, projection: Projection, input: ValueId| {
        let Projection { role, stored, part, columns } = projection;
        let down = Sides { reads: None, norm: None, makes: Some(Side::Tokens) };
        let sides = if role == names.down { down } else { Sides::behind(norm.as_deref()) };
        sketch.enter(within(module, role));
        let (module, has_bias) = (within(module, stored), network.biases);
        linear::build(sketch, weights, &Linear { module: &module, part, columns, sides, has_bias }, input)
    };
    let width = network.width;
    let reads = |role, part| Projection { role, stored: role, part, columns: decoder.width };
    let half = |role, first| Projection {
        stored: names.gate_and_up,
        ..reads(role, Part { first, count: width, all: 2 * width })
    };
    let (gate, up) = match network.gate {
        Gate::None => (None, reads(names.up, Part::all(width))),
        Gate::Separate => (Some(reads(names.gate, Part::all(width))), reads(names.up, Part::all(width))),
        Gate::Fused => (Some(half(names.gate, 0)), half(names.up, width)),
    };
    let gate = gate.map(|gate| project(sketch, weights, gate, input));
    let up = project(sketch, weights, up, input);
    sketch.enter(module.as_str());
    let between = match gate {
        None => sketch.activate(up, network.activation),
        Some(gate) => {
            let gate = network.scales.map_or(gate, |[scale, _]| sketch.scale(gate, scale));
            let gate = network.cutoff.map_or(gate, |cutoff| cut_off(sketch, weights, gate, cutoff));
            let gate = sketch.activate(gate, network.activation);
            sketch.multiply(gate, up)
        }
    };
    let down = Projection { role: names.down, stored: names.down, part: Part::all(decoder.width), columns: width };
    let made = project(sketch, weights, down, between);
    network.scales.map_or(made, |[_, scale]| sketch.scale(made, scale))
}

/// Elements less a number for each row, and 0 below.
fn cut_off(sketch: &mut Sketch, weights: &mut Weights<'_>, rows: ValueId, cutoff: Cutoff) -> ValueId {
    let mean = sketch.mean(rows);
    let centered = sketch.less(rows, mean);
    let variance = sketch.mean_square(centered);
    let deviation = sketch.root(variance);
    let deviations = match cutoff {
        Cutoff::Share(share) => {
            let share = sketch.constant(&weights.number(share));
            sketch.own("aten.special_ndtri.default", &[share], &[])
        }
        Cutoff::Deviations(number) => sketch.constant(&weights.number(number)),
    };
    let cutoff = sketch.multiply(deviation, deviations);
    let above = sketch.less(centered, cutoff);
    sketch.activate(above, Activation::Relu)
}

/// A projection of a network.
#[derive(Clone, Copy)]
struct Projection {
    /// The name in the network.
    role: &'static str,
    /// The name of the module that has the matrix.
    stored: &'static str,
    /// The rows of the matrix.
    part: Part,
    /// The columns.
    columns: usize,
}

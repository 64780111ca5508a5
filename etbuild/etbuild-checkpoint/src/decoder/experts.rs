//! A mixture of experts in place of the feed-forward network.

use etbuild_ir::ValueId;
use etbuild_weights::transposed::Turns;

use super::feed_forward::{self, Network};
use super::linear::{self, Linear};
use super::sides::Sides;
use super::weights::{Listed, Weights};
use crate::constant::{Constant, Matrices, Part};
use crate::names::within;
use crate::sketch::Sketch;
use crate::{Decoder, Experts, FeedForward, Routing, Shares, Storage};

/// The experts of the layer whose module is `layer`, of tokens `[1, count, width]`: those that the router reads, and those that experts read.
pub fn build(
    decoder: &Decoder,
    experts: &Experts,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    layer: &str,
    [routed, input]: [ValueId; 2],
) -> ValueId {
    let module = within(layer, experts.names.module);
    let (tokens, chosen) = (sketch.size(input, 1), experts.chosen);
    let [shares, numbers] = route(decoder, experts, sketch, weights, &module, routed);
    let vectors = sketch.view(input, &[tokens, 1, decoder.width]);
    sketch.enter(format!("{module}.{}", experts.names.list));
    let mut choose = |sketch: &mut Sketch, projection: Projection, input: ValueId| {
        let biases = experts.has_biases.then(|| biases(experts, weights, &module, projection));
        let matrices = Matrices { biases, ..matrices(experts, weights, &module, projection) };
        sketch.choose(input, numbers, &matrices, [tokens, chosen, projection.part.count])
    };
    let reads = |name, first| Projection { name, part: experts.part(first), columns: decoder.width };
    let gate = experts.is_gated.then(|| choose(sketch, reads(experts.names.gate, 0), vectors));
    let up = choose(sketch, reads(experts.names.up, experts.width), vectors);
    let between = match (gate, experts.clamped) {
        (None, _) => sketch.activate(up, decoder.feed_forward.activation),
        (Some(gate), Some(clamped)) => sketch.clamped_gate(gate, up, clamped),
        (Some(gate), None) => {
            let gate = sketch.activate(gate, decoder.feed_forward.activation);
            sketch.multiply(gate, up)
        }
    };
    let down = Projection { name: experts.names.down, part: Part::all(decoder.width), columns: experts.width };
    let made = choose(sketch, down, between);
    let shares = sketch.view(shares, &[tokens, 1, chosen]);
    let sum = sketch.products(shares, made);
    let sum = sketch.view(sum, &[1, tokens, decoder.width]);
    shared(decoder, experts, sketch, weights, &module, input).map_or(sum, |shared| sketch.add(sum, shared))
}

/// The shares of the chosen experts of each token, `[tokens, chosen]`, and their numbers.
fn route(
    decoder: &Decoder,
    experts: &Experts,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    mixture: &str,
    input: ValueId,
) -> [ValueId; 2] {
    let module = format!("{mixture}.{}", experts.names.router);
    sketch.enter(module.as_str());
    let (input, module) = match experts.routing.is_scaled {
        true => (scaled(decoder, sketch, weights, &module, input), format!("{module}.proj")),
        false => (input, module),
    };
    let (part, sides) = (Part::all(experts.count), Sides::default());
    let router = Linear { module: &module, part, columns: decoder.width, sides, has_bias: experts.has_biases };
    let scores = linear::build(sketch, weights, &router, input);
    let scores = sketch.view(scores, &[sketch.size(input, 1), experts.count]);
    let Routing { shares, correction, groups, scale, is_scaled } = experts.routing;
    let all = match shares {
        Shares::InTurns { slack } => return sketch.choose_in_turns(scores, slack),
        Shares::Softmax => sketch.softmax(scores),
        Shares::Sigmoid => sketch.own("aten.sigmoid.default", &[scores], &[]),
    };
    let biases = correction.map(|name| weights.row(&format!("{mixture}.{name}"), experts.count));
    let biases = biases.map(|biases| sketch.constant(&biases));
    let [shares, numbers] = match (biases, groups) {
        (None, None) => sketch.greatest(all, experts.chosen),
        (biases, groups) => sketch.choose_experts(all, biases, groups, experts.chosen),
    };
    let shares = if experts.is_normalized { sketch.normalized(shares) } else { shares };
    let shares = if is_scaled { by_expert(experts, sketch, weights, mixture, [shares, numbers]) } else { shares };
    [scale.map_or(shares, |scale| sketch.scale(shares, scale)), numbers]
}

/// Hidden states as a router with a normalization of its own reads them: with a factor for each element, divided by the root of the width.
fn scaled(decoder: &Decoder, sketch: &mut Sketch, weights: &mut Weights<'_>, router: &str, input: ValueId) -> ValueId {
    let normal = sketch.norm(input, [None; 2], decoder.norm);
    let factors = weights.vector(&format!("{router}.scale"), Part::all(decoder.width), 0.0);
    let factors = sketch.constant(&factors);
    let scaled = sketch.multiply(normal, factors);
    sketch.scale(scaled, (decoder.width as f64).powf(-0.5))
}

/// Shares times the factor of each chosen expert.
fn by_expert(
    experts: &Experts,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    mixture: &str,
    [shares, numbers]: [ValueId; 2],
) -> ValueId {
    let name = format!("{mixture}.{}.per_expert_scale", experts.names.router);
    let factors = weights.vector(&name, Part::all(experts.count), 0.0);
    let factors = sketch.constant(&factors);
    let table = sketch.view(factors, &[experts.count, 1]);
    let chosen = sketch.embedding(table, numbers);
    let chosen = sketch.view(chosen, &[sketch.size(shares, 0), experts.chosen]);
    sketch.multiply(shares, chosen)
}

/// A projection of all experts.
#[derive(Clone, Copy)]
struct Projection {
    /// The name in an expert.
    name: &'static str,
    /// The rows of an expert's matrix.
    part: Part,
    /// The columns.
    columns: usize,
}

impl Experts {
    /// The rows of gate or up: a matrix of its own, or a half of one matrix.
    const fn part(&self, first: usize) -> Part {
        match self.storage {
            _ if !self.is_gated => Part::all(self.width),
            Storage::Listed => Part::all(self.width),
            Storage::Stacked | Storage::StackedList | Storage::Interleaved => {
                Part { first, count: self.width, all: 2 * self.width }
            }
        }
    }
}

impl Projection {
    /// The rows of the projection among rows that take turns.
    const fn turns(self) -> Turns {
        let Part { first, count, all } = self.part;
        let step = if count == all { 1 } else { 2 };
        Turns { first: if first > 0 { 1 } else { 0 }, step, count, all }
    }

    /// The rows of the projection, which are neighbours.
    const fn rows(self) -> Turns {
        let Part { first, count, all } = self.part;
        Turns { first, step: 1, count, all }
    }
}

/// The biases of a projection of all experts: a tensor for each projection, or rows of gate and up in turns.
fn biases(experts: &Experts, weights: &mut Weights<'_>, module: &str, projection: Projection) -> Constant {
    let tensor = format!("{module}.{}.{}", experts.names.list, projection.name);
    match experts.storage {
        Storage::Listed => weights.table(&format!("{tensor}.bias"), [experts.count, projection.part.count]),
        Storage::Stacked | Storage::StackedList | Storage::Interleaved => {
            weights.columns(&format!("{tensor}_bias"), experts.count, projection.turns())
        }
    }
}

/// The matrices of all experts.
fn matrices(experts: &Experts, weights: &mut Weights<'_>, module: &str, projection: Projection) -> Matrices {
    let (Projection { name, part, columns }, Experts { count, names, .. }) = (projection, experts);
    let alone = |expert| Listed::alone(format!("{module}.{}.{expert}.{name}.weight", names.list), part, columns);
    let stack = match experts.storage {
        Storage::StackedList => format!("{module}.{}.{name}", names.list),
        _ => format!("{module}.{name}.weight"),
    };
    let stacked = |expert| Listed::in_stack(&stack, [expert, *count], part, columns);
    let [as_rows, transposed] = [[*count, part.all, columns], [*count, columns, part.all]];
    let is_transposed = !weights.has_shape(&stack, &as_rows) && weights.has_shape(&stack, &transposed);
    match experts.storage {
        Storage::Listed => weights.list(*count, alone),
        Storage::StackedList if is_transposed => transposed_list(weights, &stack, *count, (projection.rows(), columns)),
        Storage::Stacked | Storage::StackedList => weights.list(*count, stacked),
        Storage::Interleaved => {
            let tensor = format!("{module}.{}.{name}", names.list);
            transposed_list(weights, &tensor, *count, (projection.turns(), columns))
        }
    }
}

/// Rows of each of the matrices of a stack, `[count, columns, all]`, with so many columns.
fn transposed_list(weights: &mut Weights<'_>, tensor: &str, count: usize, (rows, columns): (Turns, usize)) -> Matrices {
    let mut all = Vec::new();
    for expert in 0..count {
        if weights.gave_up() {
            break;
        }
        all.push(weights.transposed_of_stack(tensor, [expert, count], rows, columns));
    }
    Matrices { all, ..Matrices::default() }
}

/// The network that every token passes besides the chosen experts, times the share that a gate gives the network, where there is a gate.
fn shared(
    decoder: &Decoder,
    experts: &Experts,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    module: &str,
    input: ValueId,
) -> Option<ValueId> {
    let width = experts.shared?;
    let network = FeedForward { width, ..decoder.feed_forward };
    let network = Network { network, module: within(module, experts.names.shared), norm: None };
    let made = feed_forward::build_network(decoder, &network, sketch, weights, input);
    if experts.names.shared_gate.is_empty() {
        return Some(made);
    }
    let module = format!("{module}.{}", experts.names.shared_gate);
    sketch.enter(module.as_str());
    let (part, sides) = (Part::all(1), Sides::default());
    let gate = Linear { module: &module, part, columns: decoder.width, sides, has_bias: false };
    let gate = linear::build(sketch, weights, &gate, input);
    let share = sketch.own("aten.sigmoid.default", &[gate], &[]);
    Some(sketch.multiply(made, share))
}

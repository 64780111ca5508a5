//! Linear layers, and what an adapter adds to them.

use etbuild_ir::ValueId;

use super::adapted::LowRank;
use super::sides::Sides;
use super::sketch::Sketch;
use super::weights::{Part, Weights};

/// A linear layer.
#[derive(Clone, Copy)]
pub struct Linear<'n> {
    /// The module that its tensors are of: that of several layers where these are fused.
    pub module: &'n str,
    /// Its rows of those tensors.
    pub part: Part,
    /// The elements of what it reads.
    pub columns: usize,
    /// What is rotated in a rotated model.
    pub sides: Sides<'n>,
    /// Whether it has a bias.
    pub has_bias: bool,
}

/// The layer, of a value with `columns` elements in the last dimension.
pub fn build(sketch: &mut Sketch, weights: &mut Weights<'_>, layer: &Linear<'_>, input: ValueId) -> ValueId {
    let Linear { module, part, columns, sides, has_bias } = *layer;
    let matrix = weights.matrix(&format!("{module}.weight"), part, columns, sides);
    let matrix = sketch.floats(&matrix);
    let bias = has_bias.then(|| weights.bias(&format!("{module}.bias"), part, sides.makes));
    let bias = bias.map(|bias| sketch.constant(&bias));
    let made = sketch.linear(input, matrix, bias);
    adapted(sketch, weights, layer, input, made)
}

/// What the layer `made` of its input, with what an adapter adds. Layers that are fused read the first product in common.
pub fn adapted(
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    layer: &Linear<'_>,
    input: ValueId,
    made: ValueId,
) -> ValueId {
    let Some(LowRank { down, up }) = weights.low_rank(layer) else { return made };
    let module = sketch.module().to_owned();
    sketch.enter(format!("{}.{DOWN}", layer.module));
    let down = sketch.constant(&down);
    let narrow = sketch.narrow(input, down);
    sketch.enter(format!("{module}.{UP}"));
    let up = sketch.constant(&up);
    let more = sketch.linear(narrow, up, None);
    sketch.enter(module);
    sketch.add(made, more)
}

/// What PEFT calls the first matrix of a layer, `[rank, columns]`.
pub const DOWN: &str = "lora_A";
/// What it calls the second, `[rows, rank]`.
pub const UP: &str = "lora_B";

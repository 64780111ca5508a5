//! Linear layers, and the additions of adapters.

mod adapted;

use adapted::LowRank;
use etbuild_ir::ValueId;

use super::sides::Sides;
use super::weights::Weights;
use crate::constant::Part;
use crate::sketch::Sketch;

/// A linear layer.
#[derive(Clone, Copy)]
pub struct Linear<'n> {
    /// The module of the tensors: a module of several layers where the layers are fused.
    pub module: &'n str,
    /// The rows in these tensors.
    pub part: Part,
    /// The columns of the weights.
    pub columns: usize,
    /// The rotated sides in a rotated model.
    pub sides: Sides<'n>,
    /// Whether the layer has a bias.
    pub has_bias: bool,
}

/// The layer, of a value with `columns` elements in the last dimension.
pub fn build(sketch: &mut Sketch, weights: &mut Weights<'_>, layer: &Linear<'_>, input: ValueId) -> ValueId {
    let Linear { module, part, columns, sides, has_bias } = *layer;
    let tensor = format!("{module}.weight");
    let matrix = match weights.decoder.transposed {
        true => weights.transposed_matrix(&tensor, part, columns),
        false if weights.rotates() => weights.matrix(&tensor, part, columns, sides),
        false => weights.stored_with_offsets(&tensor, part, columns),
    };
    let bias = has_bias.then(|| weights.bias(&format!("{module}.bias"), part, sides.makes));
    let bias = bias.map(|bias| sketch.constant(&bias));
    let made = sketch.product(input, &matrix, bias);
    adapted(sketch, weights, layer, input, made)
}

/// The output `made` of the layer, with the adapter's addition. Fused layers share the first product of the adapter.
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

/// PEFT's name of the first matrix of a layer, `[rank, columns]`.
pub const DOWN: &str = "lora_A";
/// PEFT's name of the second matrix, `[rows, rank]`.
pub const UP: &str = "lora_B";

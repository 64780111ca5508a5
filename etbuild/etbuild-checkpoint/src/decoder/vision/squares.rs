//! The projectors of a tower over patches: squares of patches in, image tokens out.

use etbuild_ir::ValueId;

use super::norm::norm;
use crate::decoder::parts::Parts;
use crate::{Activation, Decoder, PROJECTOR, PatchProjector, Patches};

/// The image tokens, `[1, n, width]`, of the states behind the last layer.
pub fn build(parts: &mut Parts<'_, '_>, decoder: &Decoder, tower: &Patches, states: ValueId) -> ValueId {
    match tower.projector {
        PatchProjector::Squares => {
            let normal = norm(parts, tower, &format!("{PROJECTOR}.{}", tower.names.norm), states);
            let squares = parts.sketch.grouped(normal, tower.square * tower.square);
            project(parts, decoder, tower, PROJECTOR, squares)
        }
        PatchProjector::Merged { activation, has_biases, epsilon } => {
            let normal = parts.gain(&format!("{PROJECTOR}.{}", tower.names.norm), tower.width, epsilon, states);
            merge(parts, decoder, tower, (activation, has_biases), normal)
        }
    }
}

/// What the states behind a layer of the tower add to image tokens, `[1, n, width]`, where they do: squares are normalized instead of patches.
pub fn of_layer(
    parts: &mut Parts<'_, '_>,
    decoder: &Decoder,
    tower: &Patches,
    index: usize,
    states: ValueId,
) -> Option<ValueId> {
    let [_, projector] = tower.deep.iter().find(|[layer, _]| *layer == index)?;
    let (module, each) = (format!("{PROJECTOR}.deepstack.{projector}"), tower.square * tower.square);
    let squares = parts.sketch.grouped(states, each);
    let normal = parts.norm(&format!("{module}.{}", tower.names.norm), each * tower.width, tower.epsilon, squares);
    Some(project(parts, decoder, tower, &module, normal))
}

/// Two layers over squares.
fn project(parts: &mut Parts<'_, '_>, decoder: &Decoder, tower: &Patches, module: &str, squares: ValueId) -> ValueId {
    let wide = tower.square * tower.square * tower.width;
    let [first, second] = tower.names.projector.map(|name| format!("{module}.{name}"));
    let made = parts.linear(&first, squares, [wide, wide], true);
    let bent = parts.sketch.activate(made, Activation::Gelu);
    parts.linear(&second, bent, [decoder.width, wide], true)
}

/// A matrix over squares of normalized patches, and two layers.
fn merge(
    parts: &mut Parts<'_, '_>,
    decoder: &Decoder,
    tower: &Patches,
    (activation, has_biases): (Activation, bool),
    normal: ValueId,
) -> ValueId {
    let (each, width) = (tower.square * tower.square, tower.width);
    let squares = parts.sketch.grouped(normal, each);
    let module = format!("{PROJECTOR}.patch_merger.merging_layer");
    parts.sketch.enter(module.as_str());
    let matrix = parts.weights.by_patch(&format!("{module}.weight"), width, [width, each]);
    let matrix = parts.sketch.floats(&matrix);
    let merged = parts.sketch.linear(squares, matrix, None);
    let [first, second] = tower.names.projector.map(|name| format!("{PROJECTOR}.{name}"));
    let made = parts.linear(&first, merged, [decoder.width, width], has_biases);
    let bent = parts.sketch.activate(made, activation);
    parts.linear(&second, bent, [decoder.width; 2], has_biases)
}

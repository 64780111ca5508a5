//! The projectors of a tower over patches: squares of patches in, image tokens out.

use etbuild_ir::ValueId;

use super::norm::norm;
use crate::constant::Part;
use crate::decoder::parts::Parts;
use crate::{Activation, Decoder, Norm, NormKind, PROJECTOR, PatchProjector, Patches, TOWER};

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
        PatchProjector::Pooled { is_standardized } => pool(parts, decoder, tower, is_standardized, states),
    }
}

/// The means of squares, times the root of the width, normalized, and a matrix.
fn pool(
    parts: &mut Parts<'_, '_>,
    decoder: &Decoder,
    tower: &Patches,
    is_standardized: bool,
    states: ValueId,
) -> ValueId {
    let (each, width) = (tower.square * tower.square, tower.width);
    parts.sketch.enter(format!("{TOWER}.pooler"));
    let squares = parts.sketch.grouped(states, each);
    let patches: Vec<ValueId> =
        (0..each).map(|patch| parts.sketch.slice(squares, 2, patch * width, (patch + 1) * width)).collect();
    let sum = patches.into_iter().reduce(|sum, patch| parts.sketch.add(sum, patch)).unwrap_or(squares);
    let mut tokens = parts.sketch.scale(sum, (width as f64).sqrt() / each as f64);
    if is_standardized {
        let [bias, scale] = ["std_bias", "std_scale"].map(|name| {
            let vector = parts.weights.vector(&format!("{TOWER}.{name}"), Part::all(width), 0.0);
            parts.sketch.constant(&vector)
        });
        tokens = parts.sketch.less(tokens, bias);
        tokens = parts.sketch.multiply(tokens, scale);
    }
    let kind = NormKind::RootMeanSquare;
    let norm = Norm { kind, epsilon: tower.epsilon, has_weights: false, less_one: false, has_biases: false };
    parts.sketch.enter(format!("{PROJECTOR}.embedding_pre_projection_norm"));
    let normal = parts.sketch.norm(tokens, [None; 2], norm);
    let module = format!("{PROJECTOR}.{}", tower.names.projector[0]);
    parts.linear(&module, normal, [decoder.width, width], false)
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

//! The projector: tokens of the tower to image tokens of the decoder.

use et_core::ScalarType;
use etbuild_ir::{Argument, ValueId};

use crate::constant::{Part, spec};
use crate::decoder::parts::Parts;
use crate::{Norm, NormKind, PROJECTOR, Projector, Tower};

/// The image tokens, `[1, tokens, width]`.
pub fn build(parts: &mut Parts<'_, '_>, tower: &Tower, projector: Projector, width: usize, states: ValueId) -> ValueId {
    let own = tower.width;
    match projector {
        Projector::Shuffle { factor } => {
            let squares = shuffle(parts, tower, factor, states);
            let module = format!("{PROJECTOR}.modality_projection.proj");
            parts.linear(&module, squares, [width, own * factor * factor], false)
        }
        Projector::Network { activation, has_biases } => {
            let wide = parts.linear(&format!("{PROJECTOR}.linear_1"), states, [width, own], has_biases);
            let bent = parts.sketch.activate(wide, activation);
            parts.linear(&format!("{PROJECTOR}.linear_2"), bent, [width, width], has_biases)
        }
        Projector::Pool { side, less_one } => pool(parts, tower, (side, less_one), width, states),
    }
}

/// The patches of each square as one token, `[1, squares, width of a square]`: the patches of a row of a square are neighbours in the
/// token, and the rows follow each other.
fn shuffle(parts: &mut Parts<'_, '_>, tower: &Tower, factor: usize, states: ValueId) -> ValueId {
    let (side, sketch) = (tower.patches(), &mut parts.sketch);
    let (squares, row) = (side / factor, tower.width * factor);
    let rows = sketch.view(states, &[1, side, squares, row]);
    let turned = sketch.transpose(rows, spec(ScalarType::Float, &[1, squares, side, row]));
    let merged = sketch.view(turned, &[1, squares, squares, row * factor]);
    let back = sketch.transpose(merged, spec(ScalarType::Float, &[1, squares, squares, row * factor]));
    sketch.view(back, &[1, squares * squares, row * factor])
}

/// The means of squares of patches, normalized and multiplied by a matrix that is stored transposed.
fn pool(
    parts: &mut Parts<'_, '_>,
    tower: &Tower,
    (side, less_one): (usize, bool),
    width: usize,
    states: ValueId,
) -> ValueId {
    let (own, patches) = (tower.width, tower.patches());
    let floats = |sizes: &[usize]| spec(ScalarType::Float, sizes);
    let Parts { sketch, weights } = parts;
    sketch.enter(format!("{PROJECTOR}.avg_pool"));
    let planes = sketch.transpose(states, floats(&[1, own, patches * patches]));
    let image = sketch.view(planes, &[1, own, patches, patches]);
    let pair = |number: usize| Argument::Ints(vec![number as i64; 2]);
    let (square, rest) = (pair(patches / side), [pair(0), Argument::Bool(false), Argument::Bool(true), Argument::None]);
    let arguments = [Argument::Value(image), square.clone(), square].into_iter().chain(rest).collect();
    let means = sketch.call("aten.avg_pool2d.default", arguments, floats(&[1, own, side, side]));
    let rows = sketch.view(means, &[1, own, side * side]);
    let tokens = sketch.transpose(rows, floats(&[1, side * side, own]));
    let module = format!("{PROJECTOR}.mm_soft_emb_norm");
    sketch.enter(module.as_str());
    let gains = weights.vector(&format!("{module}.weight"), Part::all(own), if less_one { 1.0 } else { 0.0 });
    let gains = sketch.constant(&gains);
    let norm =
        Norm { kind: NormKind::RootMeanSquare, epsilon: tower.epsilon, has_weights: true, less_one, has_biases: false };
    let normal = sketch.norm(tokens, [Some(gains), None], norm);
    sketch.enter(PROJECTOR);
    let matrix = weights.transposed_matrix(&format!("{PROJECTOR}.mm_input_projection_weight"), Part::all(width), own);
    let matrix = sketch.floats(&matrix);
    sketch.linear(normal, matrix, None)
}

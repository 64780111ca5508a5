//! The encoder of pictures of any size: the patches of a picture in, squares of patches as image tokens out.
//!
//! The runtime orders the patches square by square, and the squares window by window, so that what sees each other lies together.

use et_core::ScalarType;
use etbuild_ir::ValueId;

use super::learned::Learned;
use super::norm::norm;
use super::patch_layer::Shared;
use super::{axes, patch_layer, squares};
use crate::constant::{Constant, Part, spec};
use crate::decoder::parts::Parts;
use crate::decoder::weights::Weights;
use crate::{Decoder, PatchTurning, Patches, Rotary, Scaling, TOWER};

/// The embeddings of image tokens, `[1, n, width]`. The inputs are `patches`, `float32 [1, p n, numbers]`, with the `p` patches of each of
/// `n` squares; `rows` and `columns`, `int64 [p n]`, the places of the patches; `last`, `int64 [1]`; `picture` and, for layers with
/// windows, `windows`, `int64 [p n]`, the indices behind the last patch of the picture, and of the patch's window; with a table of learned
/// position embeddings, the inputs of [`Learned`]. Behind the embedding, `width` is that of what the first layers of the decoder add, too.
pub fn build(parts: &mut Parts<'_, '_>, decoder: &Decoder, tower: &Patches) -> ValueId {
    let each = tower.square * tower.square;
    let squares = parts.weights.image_tokens as usize;
    let most = squares * each;
    let patches = spec(ScalarType::Float, &[1, most, tower.numbers()]);
    let patches = parts.sketch.several("patches", patches, 1, each);
    let mut integers = |name: &str| parts.sketch.several(name, spec(ScalarType::Long, &[most]), 0, each);
    let places = ["rows", "columns"].map(&mut integers);
    let ends = [tower.windows.is_some().then(|| integers("windows")), Some(integers("picture"))];
    let learned = tower.table.map(|side| (side, Learned::inputs(parts, most, each)));
    let last = parts.sketch.input("last", &[1]);
    let first = parts.sketch.constant(&parts.weights.integers("first", &[0]));
    let longest = squares * tower.square;
    let tables = tables(parts, tower, longest, places);
    let shared = Shared { tables, first, last, ends };
    let mut states = embed(parts, tower, patches);
    if let Some(ahead) = tower.names.ahead {
        states = norm(parts, tower, &format!("{TOWER}.{ahead}"), states);
    }
    if let Some(rows) = tower.axes {
        states = axes::add(parts, [longest, rows, tower.width], places, states);
    }
    if let Some((side, learned)) = learned {
        states = learned.add(parts, [side * side, tower.width], states);
    }
    let mut deep = Vec::new();
    for index in 0..tower.layers {
        if parts.weights.gave_up() {
            break;
        }
        states = patch_layer::build(parts, tower, index, &shared, states);
        deep.extend(squares::of_layer(parts, decoder, tower, index, states));
    }
    let embeddings = squares::build(parts, decoder, tower, states);
    if deep.is_empty() { embeddings } else { parts.sketch.join(&[&[embeddings], &deep[..]].concat(), 2) }
}

/// Cosines and sines of the patches, of the first half of the pairs by the row, of the second half by the column.
fn tables(parts: &mut Parts<'_, '_>, tower: &Patches, most: usize, places: [ValueId; 2]) -> [ValueId; 2] {
    let pairs = tower.depth / 4;
    let rotary = Rotary { theta: tower.theta, pairs, is_interleaved: false, sections: None, scaling: Scaling::None };
    let (most, Parts { sketch, weights }) = (u32::try_from(most).unwrap_or(u32::MAX), parts);
    sketch.enter(format!("{TOWER}.rotary_pos_emb"));
    let of_rows = weights.angles("vision.rotary", &rotary, most);
    let of_columns = match tower.turning {
        PatchTurning::Between => weights.angles_between("vision.rotary.columns", &rotary, most),
        PatchTurning::Across | PatchTurning::Within => of_rows.clone(),
    };
    let mut tables = of_rows.into_iter().zip(of_columns);
    std::array::from_fn(|_| {
        let Some((of_rows, of_columns)) = tables.next() else { return places[0] };
        let halves = [(of_rows, places[0]), (of_columns, places[1])].map(|(table, places)| {
            let table = sketch.constant(&table);
            sketch.embedding(table, places)
        });
        sketch.join(&halves, 1)
    })
}

/// The embeddings of patches: a convolution whose kernel is a patch, as a matrix; or a matrix over pixels.
fn embed(parts: &mut Parts<'_, '_>, tower: &Patches, patches: ValueId) -> ValueId {
    let module = format!("{TOWER}.{}", tower.names.embedding);
    let Parts { sketch, weights } = parts;
    sketch.enter(module.as_str());
    let name = format!("{module}.weight");
    let matrix = match tower.is_by_pixel {
        true => weights.by_patch(&name, tower.width, [tower.patch * tower.patch, 3]),
        false => kernels(weights, tower, &name),
    };
    let matrix = sketch.floats(&matrix);
    let bias = tower.has_bias.then(|| weights.vector(&format!("{module}.bias"), Part::all(tower.width), 0.0));
    let bias = bias.map(|bias| sketch.constant(&bias));
    sketch.linear(patches, matrix, bias)
}

/// The kernels of the convolution as a matrix.
fn kernels(weights: &mut Weights<'_>, tower: &Patches, name: &str) -> Constant {
    let [flat, deep] = [vec![tower.patch; 2], vec![tower.frames, tower.patch, tower.patch]]
        .map(|kernel| [vec![tower.width, 3], kernel].concat());
    if tower.frames > 1 && weights.has_shape(name, &flat) {
        return weights.joined_frames(name, tower.frames, &flat);
    }
    let shape = if tower.frames == 1 && weights.has_shape(name, &flat) { flat } else { deep };
    weights.flattened(name, &shape)
}

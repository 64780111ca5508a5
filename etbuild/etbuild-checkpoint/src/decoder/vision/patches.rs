//! The encoder of pictures of any size: the patches of a picture in, squares of patches as image tokens out.
//!
//! The runtime orders the patches square by square, and the squares window by window, so that what sees each other lies together.

use et_core::ScalarType;
use etbuild_ir::{Argument, ValueId};

use super::learned::Learned;
use super::norm::norm;
use super::squares;
use crate::constant::{Part, spec};
use crate::decoder::parts::Parts;
use crate::{Decoder, Patches, Rotary, Scaling, TOWER};

/// The values that all layers read.
struct Shared {
    /// The cosines and the sines of the patches, `[n, depth / 2]`.
    tables: [ValueId; 2],
    /// The row of the first patch in the tables.
    first: ValueId,
    /// The index of the last patch.
    last: ValueId,
    /// The end of each patch's window, and the end of all patches.
    ends: [Option<ValueId>; 2],
}

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
    let tables = tables(parts, tower, squares * tower.square, places);
    let shared = Shared { tables, first, last, ends };
    let mut states = embed(parts, tower, patches);
    if let Some(ahead) = tower.names.ahead {
        states = norm(parts, tower, &format!("{TOWER}.{ahead}"), states);
    }
    if let Some((side, learned)) = learned {
        states = learned.add(parts, [side * side, tower.width], states);
    }
    let mut deep = Vec::new();
    for index in 0..tower.layers {
        if parts.weights.gave_up() {
            break;
        }
        states = layer(parts, tower, index, &shared, states);
        deep.extend(squares::of_layer(parts, decoder, tower, index, states));
    }
    let embeddings = squares::build(parts, decoder, tower, states);
    if deep.is_empty() { embeddings } else { parts.sketch.join(&[&[embeddings], &deep[..]].concat(), 2) }
}

/// Cosines and sines of the patches, of the first half of the pairs by the row, of the second half by the column.
fn tables(parts: &mut Parts<'_, '_>, tower: &Patches, most: usize, places: [ValueId; 2]) -> [ValueId; 2] {
    let pairs = tower.depth() / 4;
    let rotary = Rotary { theta: tower.theta, pairs, is_interleaved: false, sections: None, scaling: Scaling::None };
    let (most, Parts { sketch, weights }) = (u32::try_from(most).unwrap_or(u32::MAX), parts);
    sketch.enter(format!("{TOWER}.rotary_pos_emb"));
    let of_rows = weights.angles("vision.rotary", &rotary, most);
    let of_columns = match tower.has_wavelengths_between {
        true => weights.angles_between("vision.rotary.columns", &rotary, most),
        false => of_rows.clone(),
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

/// The embeddings of patches: a convolution whose kernel is a patch, as a matrix.
fn embed(parts: &mut Parts<'_, '_>, tower: &Patches, patches: ValueId) -> ValueId {
    let module = format!("{TOWER}.{}", tower.names.embedding);
    let Parts { sketch, weights } = parts;
    sketch.enter(module.as_str());
    let [flat, deep] = [vec![tower.patch; 2], vec![tower.frames, tower.patch, tower.patch]]
        .map(|kernel| [vec![tower.width, 3], kernel].concat());
    let name = format!("{module}.weight");
    let shape = if tower.frames == 1 && weights.has_shape(&name, &flat) { flat } else { deep };
    let matrix = weights.flattened(&name, &shape);
    let matrix = sketch.floats(&matrix);
    let bias = tower.has_bias.then(|| weights.vector(&format!("{module}.bias"), Part::all(tower.width), 0.0));
    let bias = bias.map(|bias| sketch.constant(&bias));
    sketch.linear(patches, matrix, bias)
}

/// One layer, with normalization ahead of attention and of the feed-forward network.
fn layer(parts: &mut Parts<'_, '_>, tower: &Patches, index: usize, shared: &Shared, input: ValueId) -> ValueId {
    let names = tower.names;
    let module = format!("{TOWER}.{}.{index}", names.layers);
    let read = norm(parts, tower, &format!("{module}.{}", names.norms[0]), input);
    let [windows, picture] = shared.ends;
    let ends = windows.filter(|_| tower.sees_window(index)).or(picture).unwrap_or(shared.last);
    let attended = attend(parts, tower, &format!("{module}.{}", names.attention), shared, ends, read);
    let between = parts.sketch.add(input, attended);
    let read = norm(parts, tower, &format!("{module}.{}", names.norms[1]), between);
    let made = network(parts, tower, &format!("{module}.{}", names.network), read);
    parts.sketch.add(between, made)
}

/// Attention of rotated patches within segments.
fn attend(
    parts: &mut Parts<'_, '_>,
    tower: &Patches,
    module: &str,
    shared: &Shared,
    ends: ValueId,
    read: ValueId,
) -> ValueId {
    let (width, Shared { tables, first, last, .. }) = (tower.width, shared);
    let inputs = inputs(parts, tower, module, read);
    parts.sketch.enter(module);
    let sketch = &mut *parts.sketch;
    let [query, keys, values] = inputs.map(|own| sketch.apart(own, tower.heads));
    let [query, keys] = [query, keys].map(|heads| {
        let read = [heads, tables[0], tables[1], *first, *last];
        sketch.own("etbuild.rotate.default", &read, &[Argument::Bool(false)])
    });
    let attended = sketch.attention_within([query, keys, values], ends);
    parts.linear(&format!("{module}.{}", tower.names.output), attended, [width, width], tower.has_biases)
}

/// Queries, keys and values, `[1, n, width]` each.
fn inputs(parts: &mut Parts<'_, '_>, tower: &Patches, module: &str, read: ValueId) -> [ValueId; 3] {
    let (width, names) = (tower.width, tower.names.inputs);
    let mut project =
        |name: &str, rows: usize| parts.linear(&format!("{module}.{name}"), read, [rows, width], tower.has_biases);
    if let [query, keys, values] = *names {
        return [query, keys, values].map(|name| project(name, width));
    }
    let all = project(names.first().copied().unwrap_or_default(), 3 * width);
    parts.sketch.enter(module);
    [0, 1, 2].map(|index| parts.sketch.slice(all, 2, index * width, (index + 1) * width))
}

fn network(parts: &mut Parts<'_, '_>, tower: &Patches, module: &str, read: ValueId) -> ValueId {
    let Patches { width, inner, activation, is_gated, has_biases, .. } = *tower;
    let mut wide = |name: &str| parts.linear(&format!("{module}.{name}"), read, [inner, width], has_biases);
    if !is_gated {
        let [first, second] = tower.names.projections;
        let wide = wide(first);
        let bent = parts.sketch.activate(wide, activation);
        return parts.linear(&format!("{module}.{second}"), bent, [width, inner], has_biases);
    }
    let [gate, up] = ["gate_proj", "up_proj"].map(&mut wide);
    let bent = parts.sketch.activate(gate, activation);
    let gated = parts.sketch.multiply(bent, up);
    parts.linear(&format!("{module}.down_proj"), gated, [width, inner], has_biases)
}

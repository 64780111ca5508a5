//! The tower: patches of a tile, and layers over the patches.

use et_core::ScalarType;
use etbuild_ir::{Argument, ValueId};

use crate::constant::{Part, spec};
use crate::decoder::parts::Parts;
use crate::{TOWER, Tower};

/// The states behind the last layer, `[1, tokens, width]`.
pub fn build(parts: &mut Parts<'_, '_>, tower: &Tower, pixels: ValueId) -> ValueId {
    let mut states = embed(parts, tower, pixels);
    for index in 0..tower.layers {
        if parts.weights.gave_up() {
            break;
        }
        states = layer(parts, tower, &format!("{TOWER}.encoder.layers.{index}"), states);
    }
    if tower.has_norm_behind {
        states = parts.norm(&format!("{TOWER}.post_layernorm"), tower.width, tower.epsilon, states);
    }
    if tower.drops_first { parts.sketch.slice(states, 1, 1, tower.positions()) } else { states }
}

/// The sum of the embeddings of patches and of positions.
fn embed(parts: &mut Parts<'_, '_>, tower: &Tower, pixels: ValueId) -> ValueId {
    let Tower { width, epsilon, is_clip, .. } = *tower;
    let patches = patches(parts, tower, pixels);
    let Parts { sketch, weights } = parts;
    let mut tokens = patches;
    if is_clip {
        sketch.enter(format!("{TOWER}.embeddings"));
        let first = weights.vector(&format!("{TOWER}.embeddings.class_embedding"), Part::all(width), 0.0);
        let first = sketch.constant(&first);
        let first = sketch.view(first, &[1, 1, width]);
        tokens = sketch.join(&[first, patches], 1);
    }
    let module = format!("{TOWER}.embeddings.position_embedding");
    sketch.enter(module.as_str());
    let table = weights.stored_matrix(&format!("{module}.weight"), Part::all(tower.positions()), width);
    let table = sketch.floats(&table);
    let placed = sketch.add(tokens, table);
    // The misspelled name of CLIP's checkpoints.
    if is_clip { parts.norm(&format!("{TOWER}.pre_layrnorm"), width, epsilon, placed) } else { placed }
}

/// The embeddings of patches, `[1, patches, width]`: a convolution whose kernel and stride are a patch.
fn patches(parts: &mut Parts<'_, '_>, tower: &Tower, pixels: ValueId) -> ValueId {
    let Tower { patch, width, .. } = *tower;
    let (module, side) = (format!("{TOWER}.embeddings.patch_embedding"), tower.patches());
    let Parts { sketch, weights } = parts;
    sketch.enter(module.as_str());
    let kernel = weights.array(&format!("{module}.weight"), &[width, 3, patch, patch]);
    let kernel = sketch.floats(&kernel);
    let bias = (!tower.is_clip).then(|| weights.vector(&format!("{module}.bias"), Part::all(width), 0.0));
    let bias = bias.map_or(Argument::None, |bias| Argument::Value(sketch.constant(&bias)));
    let pair = |number: usize| Argument::Ints(vec![number as i64; 2]);
    let arguments =
        vec![Argument::Value(pixels), Argument::Value(kernel), bias, pair(patch), pair(0), pair(1), Argument::Int(1)];
    let image = sketch.call("aten.conv2d.default", arguments, spec(ScalarType::Float, &[1, width, side, side]));
    let rows = sketch.view(image, &[1, width, side * side]);
    sketch.transpose(rows, spec(ScalarType::Float, &[1, side * side, width]))
}

/// One layer, with LayerNorm ahead of attention and of the feed-forward network.
fn layer(parts: &mut Parts<'_, '_>, tower: &Tower, module: &str, input: ValueId) -> ValueId {
    let Tower { width, heads, inner, activation, epsilon, .. } = *tower;
    let read = parts.norm(&format!("{module}.layer_norm1"), width, epsilon, input);
    let inputs = ["q_proj", "k_proj", "v_proj"]
        .map(|name| parts.linear(&format!("{module}.self_attn.{name}"), read, [width, width], true));
    let attended = parts.sketch.attention(inputs, heads);
    let attended = parts.linear(&format!("{module}.self_attn.out_proj"), attended, [width, width], true);
    let between = parts.sketch.add(input, attended);
    let read = parts.norm(&format!("{module}.layer_norm2"), width, epsilon, between);
    let wide = parts.linear(&format!("{module}.mlp.fc1"), read, [inner, width], true);
    let bent = parts.sketch.activate(wide, activation);
    let made = parts.linear(&format!("{module}.mlp.fc2"), bent, [width, inner], true);
    parts.sketch.add(between, made)
}

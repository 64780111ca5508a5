//! Embeddings of tokens for each layer.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::hidden::Hidden;
use super::parts::Parts;
use crate::constant::Part;
use crate::{Decoder, LayerInputs};

/// The table, with the parts of all layers in each row.
pub const TABLE: &str = "model.embed_tokens_per_layer";
/// The projection of embeddings to the parts of all layers.
pub const PROJECTION: &str = "model.per_layer_model_projection";
/// The normalization of each part.
pub const NORM: &str = "model.per_layer_projection_norm";

/// The embeddings of tokens for all layers, `[1, count, layers, width]`.
pub fn of_tokens(decoder: &Decoder, parts: &mut Parts<'_, '_>, tokens: ValueId, embedded: ValueId) -> Option<ValueId> {
    let inputs = decoder.layer_inputs?;
    let LayerInputs { vocabulary, width, .. } = inputs;
    let projected = projected(decoder, inputs, parts, embedded);
    parts.sketch.enter(TABLE);
    let tokens = known(decoder, parts, tokens, vocabulary);
    let columns = decoder.layers.len() * width;
    let table = parts.weights.stored_table(&format!("{TABLE}.weight"), Part::all(vocabulary), columns, false);
    let rows = parts.sketch.embed(&table, tokens);
    Some(united(parts, projected, (rows, width)))
}

/// The same of image tokens, `[1, count, width]`, which have the row of the padding token: a constant.
pub fn of_features(decoder: &Decoder, parts: &mut Parts<'_, '_>, features: ValueId) -> Option<ValueId> {
    let inputs = decoder.layer_inputs?;
    let LayerInputs { vocabulary, width, padding } = inputs;
    let projected = projected(decoder, inputs, parts, features);
    parts.sketch.enter(TABLE);
    let padding = Part { first: padding as usize, count: 1, all: vocabulary };
    let row = parts.weights.stored_matrix(&format!("{TABLE}.weight"), padding, decoder.layers.len() * width);
    let row = parts.sketch.floats(&row);
    Some(united(parts, projected, (row, width)))
}

/// The product of embeddings and the projection, normalized, `[1, count, layers, width]`.
fn projected(decoder: &Decoder, inputs: LayerInputs, parts: &mut Parts<'_, '_>, embedded: ValueId) -> ValueId {
    let (width, count, layers) = (inputs.width, parts.sketch.size(embedded, 1), decoder.layers.len());
    let projected = parts.linear(PROJECTION, embedded, [layers * width, decoder.width], false);
    let projected = parts.sketch.scale(projected, (decoder.width as f64).powf(-0.5));
    let projected = parts.sketch.view(projected, &[1, count, layers, width]);
    parts.gain(NORM, width, decoder.norm.epsilon, projected)
}

/// The mean of products and rows of the table, with elements of `width` for a layer, times the root of 2.
fn united(parts: &mut Parts<'_, '_>, projected: ValueId, (rows, width): (ValueId, usize)) -> ValueId {
    let [first, second, layers] = [0, 1, 2].map(|dimension| parts.sketch.size(projected, dimension));
    let count = if parts.sketch.like(rows).rank() == 2 { 1 } else { second };
    let rows = parts.sketch.scale(rows, (width as f64).sqrt());
    let rows = parts.sketch.view(rows, &[first, count, layers, width]);
    let sum = parts.sketch.add(projected, rows);
    parts.sketch.scale(sum, std::f64::consts::FRAC_1_SQRT_2)
}

/// Tokens of the table. Others, which stand for parts of pictures and sounds, have the first row.
fn known(decoder: &Decoder, parts: &mut Parts<'_, '_>, tokens: ValueId, vocabulary: usize) -> ValueId {
    if vocabulary >= decoder.vocabulary {
        return tokens;
    }
    let (sketch, first) = (&mut *parts.sketch, parts.weights.integers("first token", &[0]));
    let output = TensorSpec { scalar_type: ScalarType::Bool, ..sketch.like(tokens) };
    let arguments = vec![Argument::Value(tokens), Argument::Int(vocabulary as i64)];
    let is_known = sketch.call("aten.lt.Scalar", arguments, output);
    let first = sketch.constant(&first);
    let output = sketch.like(tokens);
    sketch.call("aten.where.self", [is_known, tokens, first].map(Argument::Value).to_vec(), output)
}

/// The term `[1, count, width]` that the embeddings for a layer add to the hidden states behind the layer.
pub fn addition(
    decoder: &Decoder,
    parts: &mut Parts<'_, '_>,
    index: usize,
    (inputs, state): (ValueId, ValueId),
) -> Option<ValueId> {
    let LayerInputs { width, .. } = decoder.layer_inputs?;
    let module = decoder.names.layer(index);
    let within = |name: &str| format!("{module}.{name}");
    let gate = parts.linear(&within("per_layer_input_gate"), state, [width, decoder.width], false);
    let gate = parts.sketch.activate(gate, decoder.feed_forward.activation);
    let own = parts.sketch.slice(inputs, 2, index, index + 1);
    let own = parts.sketch.view(own, &[1, parts.sketch.size(inputs, 1), width]);
    let gated = parts.sketch.multiply(gate, own);
    let made = parts.linear(&within("per_layer_projection"), gated, [decoder.width, width], false);
    Some(parts.gain(&within("post_per_layer_input_norm"), decoder.width, decoder.norm.epsilon, made))
}

/// The hidden state behind a layer, with what the embeddings for the layer add.
pub fn add(decoder: &Decoder, parts: &mut Parts<'_, '_>, index: usize, hidden: Hidden) -> ValueId {
    let Some(inputs) = hidden.inputs else { return hidden.state };
    let added = addition(decoder, parts, index, (inputs, hidden.state));
    added.map_or(hidden.state, |added| parts.sketch.add(hidden.state, added))
}

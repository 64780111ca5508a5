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

/// The embeddings of tokens for all layers, `[1, count, layers, width]`: the mean of a row of the table and of a product of the token's embedding,
/// times the root of 2.
pub fn of_tokens(decoder: &Decoder, parts: &mut Parts<'_, '_>, tokens: ValueId, embedded: ValueId) -> Option<ValueId> {
    let LayerInputs { vocabulary, width } = decoder.layer_inputs?;
    let (count, layers) = (parts.sketch.size(tokens, 1), decoder.layers.len());
    let shape = [1, count, layers, width];
    let projected = parts.linear(PROJECTION, embedded, [layers * width, decoder.width], false);
    let projected = parts.sketch.scale(projected, (decoder.width as f64).powf(-0.5));
    let projected = parts.sketch.view(projected, &shape);
    let projected = parts.gain(NORM, width, decoder.norm.epsilon, projected);
    parts.sketch.enter(TABLE);
    let tokens = known(decoder, parts, tokens, vocabulary);
    let table = parts.weights.stored_table(&format!("{TABLE}.weight"), Part::all(vocabulary), layers * width, false);
    let rows = parts.sketch.embed(&table, tokens);
    let rows = parts.sketch.scale(rows, (width as f64).sqrt());
    let rows = parts.sketch.view(rows, &shape);
    let sum = parts.sketch.add(projected, rows);
    Some(parts.sketch.scale(sum, std::f64::consts::FRAC_1_SQRT_2))
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

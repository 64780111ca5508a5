//! The text encoder of a model with cross-attention: a text in, keys and values of the decoder's cross-attention out, as state.

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, Graph, TensorSpec, ValueId};

use super::cross::{self, Ends};
use super::feed_forward::{self, Network};
use super::method::{ROWS, normalize};
use super::parts::Parts;
use super::weights::Weights;
use crate::constant::{Part, spec};
use crate::relative;
use crate::sketch::Sketch;
use crate::{Decoder, Source};

/// The method: `tokens`, `int64 [1, n]` for `n` up to the context, and `last`, `int64 [1]`, which is `n - 1`, in; the states,
/// `float32 [1, n, width]`, out.
pub fn build(decoder: &Decoder, weights: &mut Weights<'_>) -> Graph {
    let mut sketch = Sketch::default();
    let Some(source) = &decoder.source else { return sketch.finish(Vec::new()) };
    let most = weights.context as usize;
    let tokens = sketch.text("tokens", most);
    let last = sketch.input("last", &[1]);
    sketch.enter(decoder.names.embedding);
    let table = weights.matrix(&decoder.names.table(), Part::all(decoder.vocabulary), decoder.width, ROWS);
    let mut states = sketch.embed(&table, tokens);
    let biases = biases(decoder, source, &mut sketch, weights, tokens);
    for index in 0..source.count {
        if weights.gave_up() {
            break;
        }
        let module = format!("{}.{index}", source.layers);
        states = layer(decoder, source, &mut Parts { sketch: &mut sketch, weights }, &module, [states, biases]);
    }
    let states = normalize(decoder, &mut sketch, weights, source.norm, states);
    sketch.enter("text_encoder");
    let zero = sketch.constant(&weights.integers("position.0", &[0]));
    cross::write_last(&mut sketch, weights, |sketch| sketch.add(last, zero));
    let ends = Ends { start: zero, last };
    cross::write(decoder, &mut Parts { sketch: &mut sketch, weights }, states, ends);
    sketch.finish(vec![states])
}

/// What attention adds to scores in every layer, `[1, heads, n, n]`.
fn biases(
    decoder: &Decoder,
    source: &Source,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    tokens: ValueId,
) -> ValueId {
    let (most, heads) = (weights.context as usize, decoder.attention.heads);
    let Some(positions) = decoder.attention.relative else { return tokens };
    sketch.enter(source.table.trim_end_matches(".weight"));
    let buckets = weights.once(format!("text_encoder.buckets.{most}"), |_, _| {
        let buckets = relative::both_ways(most, positions.buckets, positions.farthest);
        let bytes = buckets.iter().flat_map(|bucket| bucket.to_le_bytes()).collect::<Vec<u8>>();
        Ok((spec(ScalarType::Long, &[most, most]), ConstantData::new(bytes)))
    });
    let mut buckets = sketch.constant(&buckets);
    let end = sketch.length(tokens, most);
    let size = most as i32;
    for (dimension, least) in [[1, size], [1, 1]].into_iter().enumerate() {
        let output = TensorSpec::contiguous(ScalarType::Long, [size, size]).with_least(least);
        let range = [Argument::Int(dimension as i64), Argument::Int(0), Argument::Value(end), Argument::Int(1)];
        let arguments = std::iter::once(Argument::Value(buckets)).chain(range).collect();
        buckets = sketch.call("aten.slice.Tensor", arguments, output);
    }
    let table = weights.stored_matrix(source.table, Part::all(positions.buckets), heads);
    let table = sketch.floats(&table);
    let rows = sketch.embedding(table, buckets);
    let heads = heads as i32;
    let output = TensorSpec::contiguous(ScalarType::Float, [heads, size, size]).with_least([heads, 1, 1]);
    let order = Argument::Ints(vec![2, 0, 1]);
    let turned = sketch.call("aten.permute.default", vec![Argument::Value(rows), order], output);
    let output = TensorSpec::contiguous(ScalarType::Float, [1, heads, size, size]).with_least([1, heads, 1, 1]);
    sketch.call("aten.unsqueeze.default", vec![Argument::Value(turned), Argument::Int(0)], output)
}

/// One layer, with the normalizations ahead of attention and of the feed-forward network.
fn layer(
    decoder: &Decoder,
    source: &Source,
    parts: &mut Parts<'_, '_>,
    module: &str,
    [input, biases]: [ValueId; 2],
) -> ValueId {
    let (names, attention) = (&decoder.names, &decoder.attention);
    let own = |name: &str| format!("{module}.{name}");
    let norm = own(decoder.norm_places.before_attention.unwrap_or_default());
    let read = normalize(decoder, parts.sketch, parts.weights, &norm, input);
    let (place, inner) = (own(names.attention), attention.heads * attention.depth);
    let inputs = names.inputs.map(|name| parts.linear(&format!("{place}.{name}"), read, [inner, decoder.width], false));
    parts.sketch.enter(place.as_str());
    let attended = parts.sketch.biased_attention(inputs, attention.heads, biases, attention.scale);
    let made = parts.linear(&format!("{place}.{}", names.output), attended, [decoder.width, inner], false);
    let between = parts.sketch.add(input, made);
    let read = normalize(decoder, parts.sketch, parts.weights, &own(source.network_norm), between);
    let network = Network { network: decoder.feed_forward, module: own(source.network), norm: None };
    let made = feed_forward::build_network(decoder, &network, parts.sketch, parts.weights, read);
    parts.sketch.add(between, made)
}

//! The text encoder of a model with cross-attention: a text in, keys and values of the decoder's cross-attention out, as state.

use etbuild_ir::{Graph, ValueId};

use super::cross::{self, Ends};
use super::feed_forward::{self, Network};
use super::method::table;
use super::parts::Parts;
use super::weights::Weights;
use crate::constant::Part;
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
    let mut states = sketch.embed(&table(decoder, weights), tokens);
    let biases = biases(decoder, source, &mut sketch, weights, tokens);
    for index in 0..source.count {
        if weights.gave_up() {
            break;
        }
        let module = format!("{}.{index}", source.layers);
        states = layer(decoder, source, &mut Parts { sketch: &mut sketch, weights }, &module, [states, biases]);
    }
    let states = Parts { sketch: &mut sketch, weights }.normalize(source.norm, decoder.norm, states);
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
    let Some(relative) = decoder.attention.relative else { return tokens };
    sketch.enter(source.table.trim_end_matches(".weight"));
    let table = weights.stored_matrix(source.table, Part::all(relative.buckets), heads);
    let (table, end) = (sketch.floats(&table), sketch.length(tokens, most));
    sketch.relative_biases(table, relative, end, most)
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
    let read = parts.normalize(&norm, decoder.norm, input);
    let (place, inner) = (own(names.attention), attention.heads * attention.depth);
    let inputs = names.inputs.map(|name| parts.linear(&format!("{place}.{name}"), read, [inner, decoder.width], false));
    parts.sketch.enter(place.as_str());
    let attended = parts.sketch.biased_attention(inputs, attention.heads, biases, attention.scale);
    let made = parts.linear(&format!("{place}.{}", names.output), attended, [decoder.width, inner], false);
    let between = parts.sketch.add(input, made);
    let read = parts.normalize(&own(source.network_norm), decoder.norm, between);
    let network = Network { network: decoder.feed_forward, module: own(source.network), norm: None };
    let made = feed_forward::build_network(decoder, &network, parts.sketch, parts.weights, read);
    parts.sketch.add(between, made)
}

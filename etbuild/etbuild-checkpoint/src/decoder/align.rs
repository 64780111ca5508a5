//! The method for the times of words: which states of the sound the tokens of a transcript attend to.

use et_core::ScalarType;
use etbuild_ir::{Argument, Graph, ValueId};

use super::parts::Parts;
use super::text::{Text, Turning};
use super::weights::Weights;
use super::{cross, layer, method};
use crate::constant::spec;
use crate::sketch::Sketch;
use crate::{Attention, Cross, Decoder, Mutual};

/// The method: the inputs of `prefill` in; the probabilities of cross-attention of the heads that follow the sound,
/// `float32 [1, heads, tokens, states]`, out. State becomes what `prefill` makes of the state.
pub fn build(decoder: &Decoder, weights: &mut Weights<'_>) -> Graph {
    let mut sketch = Sketch::default();
    let (Some(hearing), Some(cross)) = (&decoder.hearing, decoder.cross) else { return sketch.finish(Vec::new()) };
    let count = weights.piece as usize;
    let input = sketch.input("tokens", &[1, count]);
    let [start, last] = ["start", "last"].map(|name| sketch.input(name, &[1]));
    let text =
        Text { starts: vec![start], last, lasts: Vec::new(), count, mutual: Mutual::Nowhere, turning: Turning::Places };
    let mut state = method::embed(decoder, &mut sketch, weights, &text, input);
    let layers = hearing.aligned.iter().map(|[layer, _]| layer + 1).max().unwrap_or(0);
    for index in 0..layers {
        if weights.gave_up() {
            break;
        }
        state = layer::residuals(decoder, &mut Parts { sketch: &mut sketch, weights }, index, &text, state);
    }
    let mut rows = Vec::new();
    for index in 0..layers {
        let heads = || hearing.aligned.iter().filter(|[layer, _]| *layer == index).map(|[_, head]| *head);
        if heads().next().is_none() {
            continue;
        }
        let Some(all) = probabilities(decoder, cross, &mut sketch, weights, [index, count]) else { continue };
        rows.extend(heads().map(|head| sketch.slice(all, 1, head, head + 1)));
    }
    let joined = sketch.join(&rows, 1);
    sketch.finish(vec![joined])
}

/// The probabilities of all heads of a layer, `[1, heads, tokens, states]`.
fn probabilities(
    decoder: &Decoder,
    cross: Cross,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    [index, count]: [usize; 2],
) -> Option<ValueId> {
    let Attention { heads, key_heads, depth, .. } = decoder.attention;
    let module = cross::module(decoder, cross, index);
    let query = sketch.marked(&module)?;
    sketch.enter(module.as_str());
    let slots = cross::slots(decoder, cross, weights);
    let first = weights.memory(slots, [key_heads, depth]);
    let keys = sketch.state(&format!("{module}.keys"), &first);
    let floats = |sizes: &[usize]| spec(ScalarType::Float, sizes);
    let keys = sketch.widened(keys);
    let query = sketch.transpose(query, floats(&[1, heads, count, depth]));
    let order = Argument::Ints(vec![0, 2, 3, 1]);
    let keys =
        sketch.call("aten.permute.default", vec![Argument::Value(keys), order], floats(&[1, heads, depth, slots]));
    let product = vec![Argument::Value(query), Argument::Value(keys)];
    let scores = sketch.call("aten.matmul.default", product, floats(&[1, heads, count, slots]));
    let scores = sketch.scale(scores, decoder.attention.scale);
    Some(sketch.softmax(scores))
}

//! The audio encoder: features of a window of sound in; states for cross-attention, or embeddings of audio tokens, out.

use et_core::ScalarType;
use etbuild_ir::{Argument, Graph, ValueId};

use super::cross;
use super::parts::Parts;
use super::weights::Weights;
use crate::constant::{Part, spec};
use crate::sketch::Sketch;
use crate::{Activation, Decoder, Reader, SOUND_PROJECTOR, SOUND_TOWER, SoundTower};

/// The epsilon of every LayerNorm.
const EPSILON: f64 = 1e-5;

/// The method: `features`, `float32 [1, bands, frames]`, in; `float32 [1, states, width]`, or the embeddings of audio tokens, out. The
/// keys and values of cross-attention become state.
pub fn build(decoder: &Decoder, weights: &mut Weights<'_>) -> Graph {
    let mut sketch = Sketch::default();
    let Some(hearing) = &decoder.hearing else { return sketch.finish(Vec::new()) };
    let SoundTower { bands, positions, .. } = hearing.tower;
    let features = sketch.numbers("features", &[1, bands, 2 * positions]);
    let mut parts = Parts { sketch: &mut sketch, weights };
    let states = tower(&mut parts, &hearing.tower, features);
    let output = match hearing.reader {
        Reader::Cross => {
            if let Some(cross) = decoder.cross {
                let ends = cross::whole(cross, &mut parts);
                cross::write(decoder, &mut parts, states, ends);
            }
            states
        }
        Reader::Prompt { group, activation, .. } => {
            project(&mut parts, &hearing.tower, [group, decoder.width], activation, states)
        }
    };
    sketch.finish(vec![output])
}

/// The states behind the last layer, `[1, positions, width]`.
fn tower(parts: &mut Parts<'_, '_>, tower: &SoundTower, features: ValueId) -> ValueId {
    let SoundTower { bands, positions, width, .. } = *tower;
    let floats = |sizes: &[usize]| spec(ScalarType::Float, sizes);
    let frames = convolution(parts, "conv1", [width, bands, 2 * positions], 1, features);
    let halves = convolution(parts, "conv2", [width, width, positions], 2, frames);
    let rows = parts.sketch.transpose(halves, floats(&[1, positions, width]));
    let module = format!("{SOUND_TOWER}.embed_positions");
    parts.sketch.enter(module.as_str());
    let table = parts.weights.stored_matrix(&format!("{module}.weight"), Part::all(positions), width);
    let table = parts.sketch.floats(&table);
    let mut states = parts.sketch.add(rows, table);
    for index in 0..tower.layers {
        if parts.weights.gave_up() {
            break;
        }
        states = layer(parts, tower, &format!("{SOUND_TOWER}.layers.{index}"), states);
    }
    parts.norm(&format!("{SOUND_TOWER}.layer_norm"), width, EPSILON, states)
}

/// A convolution of three frames, and GELU; `[rows, columns, frames]` are the sizes of outputs, of inputs, and of outputs in time.
fn convolution(
    parts: &mut Parts<'_, '_>,
    name: &str,
    [rows, columns, frames]: [usize; 3],
    stride: i64,
    input: ValueId,
) -> ValueId {
    let module = format!("{SOUND_TOWER}.{name}");
    let Parts { sketch, weights } = parts;
    sketch.enter(module.as_str());
    let kernel = weights.array(&format!("{module}.weight"), &[rows, columns, 3]);
    let kernel = sketch.floats(&kernel);
    let bias = weights.vector(&format!("{module}.bias"), Part::all(rows), 0.0);
    let bias = sketch.constant(&bias);
    let values = [input, kernel, bias].map(Argument::Value);
    let steps = [stride, 1, 1].map(|step| Argument::Ints(vec![step]));
    let arguments = values.into_iter().chain(steps).chain([Argument::Int(1)]).collect();
    let made = sketch.call("aten.conv1d.default", arguments, spec(ScalarType::Float, &[1, rows, frames]));
    sketch.activate(made, Activation::Gelu)
}

/// One layer, with LayerNorm ahead of attention and of the feed-forward network.
fn layer(parts: &mut Parts<'_, '_>, tower: &SoundTower, module: &str, input: ValueId) -> ValueId {
    let SoundTower { width, heads, inner, activation, .. } = *tower;
    let read = parts.norm(&format!("{module}.self_attn_layer_norm"), width, EPSILON, input);
    let inputs = [("q_proj", true), ("k_proj", false), ("v_proj", true)]
        .map(|(name, has_bias)| parts.linear(&format!("{module}.self_attn.{name}"), read, [width, width], has_bias));
    let attended = parts.sketch.attention(inputs, heads);
    let attended = parts.linear(&format!("{module}.self_attn.out_proj"), attended, [width, width], true);
    let between = parts.sketch.add(input, attended);
    let read = parts.norm(&format!("{module}.final_layer_norm"), width, EPSILON, between);
    let wide = parts.linear(&format!("{module}.fc1"), read, [inner, width], true);
    let bent = parts.sketch.activate(wide, activation);
    let made = parts.linear(&format!("{module}.fc2"), bent, [width, inner], true);
    parts.sketch.add(between, made)
}

/// Groups of neighbouring states as audio tokens of the decoder's width.
fn project(
    parts: &mut Parts<'_, '_>,
    tower: &SoundTower,
    [group, width]: [usize; 2],
    activation: Activation,
    states: ValueId,
) -> ValueId {
    let row = group * tower.width;
    let rows = parts.sketch.view(states, &[1, tower.positions / group.max(1), row]);
    let wide = parts.linear(&format!("{SOUND_PROJECTOR}.linear_1"), rows, [width, row], false);
    let bent = parts.sketch.activate(wide, activation);
    parts.linear(&format!("{SOUND_PROJECTOR}.linear_2"), bent, [width, width], false)
}

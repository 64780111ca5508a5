//! Features of sound ahead of a model: `etbuild::log_mel` of int16 samples.

use et_core::ScalarType;
use et_signal::{Framing, is_supported};
use etbuild_ir::{Argument, Graph, Node, TensorSpec, ValueId, ValueKind};

use super::features::{Constants, SoundFeatures};
use super::{FrontEndError, ints, node, replace_input, shorts};
use crate::edit::wide;

/// Makes the input int16 samples, `[1, samples]`, and the old input their features.
pub fn attach(graph: &mut Graph, input: ValueId, features: &SoundFeatures) -> Result<(), FrontEndError> {
    let place = Place::of(graph, input, features)?;
    let samples = TensorSpec::contiguous(ScalarType::Short, [1, place.framing.samples as i32]);
    let name = graph.value(input).name.clone();
    let [samples, computed] = replace_input(graph, input, samples);
    let sizes = [place.framing.frames() as i32, features.columns() as i32];
    let mut nodes = vec![log_mel(graph, samples, &name, features, &place.framing, sizes)];
    let mut found = nodes[0].outputs[0];
    if place.is_transposed {
        let turned = graph.add_value(
            &name,
            TensorSpec::contiguous(ScalarType::Float, [sizes[1], sizes[0]]),
            ValueKind::Computed,
        );
        nodes.push(node("permute", vec![Argument::Value(found), Argument::Ints(vec![1, 0])], vec![turned]));
        found = turned;
    }
    nodes.push(node("view", vec![Argument::Value(found), wide(&graph.spec(computed).sizes)], vec![computed]));
    graph.nodes.splice(0..0, nodes);
    Ok(())
}

/// How an input holds features.
struct Place {
    framing: Framing,
    /// Whether the features of a frame are apart by the number of frames.
    is_transposed: bool,
}

impl Place {
    fn of(graph: &Graph, input: ValueId, features: &SoundFeatures) -> Result<Self, FrontEndError> {
        let (value, columns) = (graph.value(input), features.columns());
        let misfit = |sentence: String| Err(FrontEndError::Misfit(sentence));
        if value.spec.is_dynamic() || value.spec.scalar_type != ScalarType::Float || value.number.is_some() {
            return misfit(format!("the input `{}` is no float32 tensor of one size, as features are", value.name));
        }
        if graph.updates.iter().any(|update| update.target == input) {
            return misfit(format!("the model writes to its input `{}`, which would be features", value.name));
        }
        if !is_supported(features.frame) {
            let sentence = "`n_fft` is a multiple of 4 whose prime factors are 2, 3 and 5";
            return misfit(format!("there is no FFT of {} samples: {sentence}", features.frame));
        }
        let elements = value.spec.numel();
        let frames = elements.checked_div(columns).unwrap_or(0);
        let steps = frames.saturating_sub(1) * features.hop;
        let needed = if features.is_centered { steps } else { features.frame + steps };
        let framing = Framing {
            samples: features.samples.unwrap_or(needed),
            length: features.frame,
            window: features.window_length,
            hop: features.hop,
            is_centered: features.is_centered,
        };
        if framing.frames() == 0 {
            return misfit(format!("{} samples are too few for a frame of {}", framing.samples, framing.length));
        }
        if framing.frames() * columns != elements {
            let found = format!("{} samples have {} frames of {columns} features", framing.samples, framing.frames());
            return misfit(format!("{found}, and the input `{}` is {:?}", value.name, value.spec.sizes));
        }
        let sides: Vec<usize> = value.spec.sizes.iter().map(|size| *size as usize).filter(|size| *size != 1).collect();
        let is_transposed = frames > 1 && columns > 1 && sides == [columns, frames];
        Ok(Self { framing, is_transposed })
    }
}

/// The node that computes the features.
fn log_mel(
    graph: &mut Graph,
    samples: ValueId,
    name: &str,
    features: &SoundFeatures,
    framing: &Framing,
    sizes: [i32; 2],
) -> Node {
    let Constants { window, turns, bands, weights, cosines, unit, range, cosine_bits } = features.constants();
    let named = |what: &str| format!("{name}.{what}");
    let weights = shorts(graph, &named("weights"), &weights);
    let cosines = cosines.map_or(Argument::None, |cosines| shorts(graph, &named("cosines"), &cosines));
    let [window, turns, bands] = [("window", &window), ("turns", &turns), ("bands", &bands)]
        .map(|(what, numbers)| ints(graph, &named(what), numbers));
    let found = graph.add_value(name, TensorSpec::contiguous(ScalarType::Float, sizes), ValueKind::Computed);
    let words = framing.words(features.bands, range > 0) as i32;
    let work = graph.add_value("work", TensorSpec::contiguous(ScalarType::Int, [words]), ValueKind::Computed);
    let numbers = [
        Argument::Int(features.frame as i64),
        Argument::Int(features.hop as i64),
        Argument::Bool(features.is_centered),
        Argument::Bool(features.is_magnitude),
        Argument::Bool(features.adds_floor()),
        Argument::Int(unit),
        Argument::Int(range),
        Argument::Int(i64::from(cosine_bits)),
    ];
    let tensors = [Argument::Value(samples), window, turns, bands, weights, cosines];
    node("log_mel", tensors.into_iter().chain(numbers).collect(), vec![found, work])
}

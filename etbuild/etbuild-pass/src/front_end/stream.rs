//! Features of a sound without an end: an execution takes the next samples, and the program keeps the samples and the features before.

use std::collections::BTreeMap;

use et_core::ScalarType;
use et_ops::call::TensorRef;
use etbuild_ir::{
    Argument, ConstantData, Graph, LoweredProgram, Node, TensorSpec, Update, ValueId, ValueKind, evaluate,
};

use super::{FrontEnd, FrontEndError, node};
use crate::pass::verified;

/// Makes inputs of features, by name, the next samples. The features of the model are those of the last samples; before the first
/// execution there was silence. Calibration has seen whole recordings, so a program becomes a stream behind quantization.
///
/// # Errors
/// Samples that are no multiple of the step between frames, or more than the frames of the model.
pub fn with_streams(
    program: LoweredProgram,
    front_ends: &BTreeMap<String, FrontEnd>,
) -> Result<LoweredProgram, FrontEndError> {
    let mut program = program.into_program();
    for graph in program.methods.values_mut() {
        for (name, front_end) in front_ends {
            let FrontEnd::Sound(features) = front_end else { continue };
            let Some(samples) = features.stream else { continue };
            let is_features = |node: &&Node| node.operator.as_str() == "etbuild.log_mel.default";
            let reads = |node: &Node| node.uses().next().is_some_and(|id| graph.value(id).name == *name);
            if let Some(index) = graph.nodes.iter().position(|node| is_features(&node) && reads(node)) {
                Stream::of(graph, index, name, samples, [features.frame, features.hop])?.attach(graph);
            }
        }
    }
    Ok(verified(program)?)
}

/// The features of a stream.
struct Stream<'n> {
    name: &'n str,
    /// The node of the features.
    index: usize,
    samples: usize,
    frame: usize,
    hop: usize,
    /// The frames and the columns of the model.
    sizes: [usize; 2],
}

impl<'n> Stream<'n> {
    fn of(
        graph: &Graph,
        index: usize,
        name: &'n str,
        samples: usize,
        [frame, hop]: [usize; 2],
    ) -> Result<Self, FrontEndError> {
        let sizes = graph.nodes[index].outputs.first().map(|id| graph.spec(*id).sizes.clone()).unwrap_or_default();
        let sizes = [0, 1].map(|dim| sizes.get(dim).copied().unwrap_or(0) as usize);
        if !samples.is_multiple_of(hop) || samples == 0 || samples / hop > sizes[0] || hop > frame {
            let frames = sizes[0];
            return Err(FrontEndError::Misfit(format!(
                "an execution of a stream takes 1 to {frames} steps of {hop} samples, and `{name}` is {samples} samples"
            )));
        }
        Ok(Self { name, index, samples, frame, hop, sizes })
    }

    fn attach(self, graph: &mut Graph) {
        let [frames, columns] = self.sizes.map(|size| size as i32);
        let (samples, fresh) = (self.samples as i32, (self.samples / self.hop) as i32);
        let read = (self.frame - self.hop) as i32 + samples;
        let mut node = graph.nodes.remove(self.index);
        let silence = self.silence(graph, &node);
        let Some(input) = node.uses().next() else { return };
        graph.values[input.index()].spec = TensorSpec::contiguous(ScalarType::Short, [1, samples]);
        let (mut ahead, mut behind) = (None, None);
        if read > samples {
            let spec = TensorSpec::contiguous(ScalarType::Short, [1, read]);
            let last = graph.add_value("last", spec.clone(), ValueKind::Computed);
            ahead = Some(self.advance(graph, ("samples", spec, vec![0; 2 * read as usize]), input, last));
            node.arguments[0] = Argument::Value(last);
        }
        if fresh < frames {
            let (spec, all) = (TensorSpec::contiguous(ScalarType::Float, [fresh, columns]), node.outputs[0]);
            node.outputs[0] = graph.add_value(self.name, spec, ValueKind::Computed);
            let kept = ("features", graph.spec(all).clone(), silence);
            // The value of all features keeps its readers.
            behind = Some(self.advance(graph, kept, node.outputs[0], all));
        }
        graph.nodes.splice(self.index..self.index, ahead.into_iter().chain([node]).chain(behind));
    }

    /// The node that makes `all` of what is kept, which becomes state, and of what is fresh.
    fn advance(
        &self,
        graph: &mut Graph,
        (what, spec, initial): (&str, TensorSpec, Vec<u8>),
        fresh: ValueId,
        all: ValueId,
    ) -> Node {
        let qualified_name = format!("{}.{what}", self.name);
        let kind = ValueKind::State { qualified_name, initial: ConstantData::new(initial) };
        let kept = graph.add_value(&format!("{}_{what}", self.name), spec, kind);
        graph.updates.push(Update { target: kept, value: all });
        node("advance", vec![Argument::Value(kept), Argument::Value(fresh)], vec![all])
    }

    /// The features of silence, for all frames.
    fn silence(&self, graph: &Graph, node: &Node) -> Vec<u8> {
        let frames = self.sizes[0];
        let bytes = vec![0; node.uses().next().map_or(0, |samples| graph.spec(samples).nbytes())];
        let tensor = |id: ValueId| {
            let spec = graph.spec(id);
            let bytes = graph.constant(id).map_or(&bytes[..], ConstantData::bytes);
            TensorRef { scalar_type: spec.scalar_type, sizes: &spec.sizes, bytes }
        };
        let features = evaluate(graph, node, tensor).ok().and_then(|outputs| outputs.into_iter().next());
        features.map_or_else(|| vec![0; frames * self.sizes[1] * 4], |features| features.bytes)
    }
}

//! The tensors of a recording, by the values of the model.

use et_core::ScalarType;
use et_module::Array;
use et_module::recording::{Event, Recording};
use et_ops::call::OwnedTensor;
use etbuild_engine::partition::StoredValue;
use etbuild_inspect::{PlannedCall, Tensors};
use etbuild_ir::{Graph, Links, Node, ValueId};

/// A tensor that a kernel computed.
pub struct Computed {
    /// The operator, such as `aten::add.out`.
    pub operator: String,
    /// The first result.
    pub tensor: OwnedTensor,
}

/// The `float32` tensors that the kernels of the first execution computed, in order.
pub fn computed(recording: &Recording) -> Vec<Computed> {
    let Some(run) = recording.runs.first() else { return Vec::new() };
    let callees = recording.methods.get(run.method).map(|facts| &facts.callees);
    let of_event = |event: &Event| {
        let operator = callees?.get(&(event.at.chain, event.at.instruction))?.clone();
        Some(Computed { operator, tensor: float(event.results.first()?)? })
    };
    run.events.iter().filter_map(of_event).collect()
}

/// The `float32` values that the first execution computed, by name. `calls` are the nodes in the order of instructions.
pub fn named_values(recording: &Recording, calls: &[PlannedCall]) -> Tensors {
    let mut found = Tensors::new();
    for event in recording.runs.first().into_iter().flat_map(|run| &run.events) {
        let Some(call) = calls.get(event.at.instruction as usize) else { continue };
        match &event.step {
            None => found.extend(event.results.first().and_then(float).map(|tensor| (call.value.clone(), tensor))),
            Some((step, _)) => {
                let stored = call.stored.get(*step as usize).into_iter().flatten();
                found.extend(stored.filter_map(|stored| Some((stored.value.clone(), gathered(stored, event)?))));
            }
        }
    }
    found
}

/// Adds the outputs of a program under their names, where no instruction gave them: those of partitions of the GPU, of an NPU, or with
/// dynamic sizes.
pub fn add_outputs(found: &mut Tensors, names: &[&str], outputs: &[Array]) {
    for (name, output) in names.iter().zip(outputs) {
        if let (false, Some(tensor)) = (found.contains_key(*name), float(output)) {
            found.insert((*name).to_owned(), tensor);
        }
    }
}

/// Adds the values that a graph quantizes at once, by the names that the values have without quantization.
pub fn add_quantized(found: &mut Tensors, graph: &Graph) {
    for (of, quantized) in quantized_forms(graph) {
        if let (false, Some(tensor)) = (found.contains_key(of), found.get(quantized)) {
            found.insert(of.to_owned(), tensor.clone());
        }
    }
}

/// The values that a graph quantizes at once, each with the dequantized form.
pub fn quantized_forms(graph: &Graph) -> Vec<(&str, &str)> {
    let links = Links::of(graph);
    let writer = |id: ValueId| links.maker(id).filter(|node| node.outputs.first() == Some(&id));
    let name = |id: &ValueId| graph.value(*id).name.as_str();
    let form = |node: &'_ Node| {
        let quantize = writer(node.uses().next()?).filter(|node| node.operator.name().starts_with("quantize_"))?;
        Some((quantize.uses().next()?, *node.outputs.first()?))
    };
    let dequantizing = graph.nodes.iter().filter(|node| node.operator.name().starts_with("dequantize_"));
    dequantizing.filter_map(form).map(|(of, quantized)| (name(&of), name(&quantized))).collect()
}

fn float(array: &Array) -> Option<OwnedTensor> {
    let sizes = array.shape.iter().map(|size| i32::try_from(*size).ok()).collect::<Option<_>>()?;
    let is_float = array.scalar_type == ScalarType::Float;
    is_float.then(|| OwnedTensor { scalar_type: ScalarType::Float, sizes, bytes: array.bytes.clone() })
}

/// A value in the layout of a backend, in row-major order as `float32`.
pub fn gathered(stored: &StoredValue, event: &Event) -> Option<OwnedTensor> {
    let memory = event.memory.get(stored.tensor)?;
    let element = element(stored)?;
    let count: usize = stored.sizes.iter().product();
    let mut bytes = Vec::with_capacity(4 * count);
    for index in 0..count {
        let mut rest = index;
        let place = stored.sizes.iter().zip(&stored.strides).rev().map(|(size, stride)| {
            let along = rest % size;
            rest /= size;
            along * stride
        });
        let place = place.sum::<usize>() + stored.offset;
        bytes.extend(element(memory, place)?.to_le_bytes());
    }
    let sizes = stored.sizes.iter().map(|size| i32::try_from(*size).ok()).collect::<Option<_>>()?;
    Some(OwnedTensor { scalar_type: ScalarType::Float, sizes, bytes })
}

/// Reads the element at a position of memory as a number.
fn element(stored: &StoredValue) -> Option<impl Fn(&[u8], usize) -> Option<f32>> {
    let (scalar_type, quantized) = (ScalarType::from_name(&stored.scalar_type)?, stored.quantized);
    let is_readable = matches!((scalar_type, quantized), (ScalarType::Float, _) | (ScalarType::Char, Some(_)));
    is_readable.then_some(move |memory: &[u8], place: usize| {
        match quantized.filter(|_| scalar_type == ScalarType::Char) {
            Some((scale, zero_point)) => {
                let integer = memory.get(place)?.cast_signed();
                Some((i32::from(integer) - zero_point) as f32 * scale)
            }
            None => memory.get(4 * place..)?.first_chunk().map(|bytes| f32::from_le_bytes(*bytes)),
        }
    })
}

#[cfg(test)]
mod tests {
    use et_module::Position;

    use super::*;

    #[test]
    fn an_image_with_inner_channels_is_put_in_order() {
        let stored = StoredValue {
            value: "y".to_owned(),
            tensor: 0,
            scalar_type: "int8".to_owned(),
            sizes: vec![1, 2, 1, 2],
            strides: vec![4, 1, 4, 2],
            offset: 1,
            quantized: Some((0.5, 1)),
        };
        let event = Event {
            at: Position { chain: 0, instruction: 0 },
            step: Some((0, "Copy".into())),
            begin: 0,
            end: 0,
            results: Vec::new(),
            memory: vec![vec![9, 1, 3, 5, 7]],
        };
        let numbers: Vec<f32> = gathered(&stored, &event)
            .unwrap()
            .bytes
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        assert_eq!(numbers, [0.0, 2.0, 1.0, 3.0]);
        assert!(gathered(&StoredValue { offset: 2, ..stored }, &event).is_none());
    }
}

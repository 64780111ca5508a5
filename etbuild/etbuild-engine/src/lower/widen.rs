//! fp16 and bf16 weights become `float32`, piece by piece: the result is only in the store.

use et_core::{Half, ScalarType};
use etbuild_ir::{Argument, ConstantData, Graph, Node, Program, ValueId, ValueKind, compact};
use etbuild_store::{Blob, Digest};

use crate::action::program::{Weights, constant};
use crate::action::{ArtifactKind, made_once};
use crate::session::{World, interrupt};

/// How many bytes are converted at a time.
const PIECE: usize = 1 << 20;

/// The names of conversions, before and after lowering.
const CONVERSIONS: [&str; 2] = ["aten._to_copy.default", "dim_order_ops._to_dim_order_copy.default"];

/// Computes every conversion of a half-precision constant to `float32`.
pub fn widen(world: &World, program: &mut Program, weights: &mut Weights) {
    for graph in program.methods.values_mut() {
        let mut nodes = Vec::new();
        for node in std::mem::take(&mut graph.nodes) {
            match conversion(graph, &node) {
                Some((name, from, data, output)) => {
                    let blob = wide(world, from, &data);
                    data.release();
                    weights.add(ArtifactKind::Constant, blob.clone());
                    if let Some(value) = graph.values.get_mut(output.index()) {
                        value.kind = ValueKind::Constant { qualified_name: name, data: constant(blob) };
                    }
                }
                None => nodes.push(node),
            }
        }
        *graph = compact(std::mem::take(graph), nodes);
    }
}

/// The constant that a node converts: the name, the type, the elements, and the result.
fn conversion(graph: &Graph, node: &Node) -> Option<(String, ScalarType, ConstantData, ValueId)> {
    let (Some(Argument::Value(from)), [output]) = (node.arguments.first(), &node.outputs[..]) else { return None };
    let ValueKind::Constant { qualified_name, data } = &graph.value(*from).kind else { return None };
    let scalar_type = graph.spec(*from).scalar_type;
    let keeps_order = graph.spec(*from).dim_order == graph.spec(*output).dim_order;
    let is_conversion = CONVERSIONS.contains(&node.operator.as_str()) && keeps_order;
    let is_half = matches!(scalar_type, ScalarType::Half | ScalarType::BFloat16);
    let widens = is_conversion && is_half && graph.spec(*output).scalar_type == ScalarType::Float;
    widens.then(|| (qualified_name.clone(), scalar_type, data.clone(), *output))
}

/// The elements as `float32`, from the store if stored.
fn wide(world: &World, from: ScalarType, data: &ConstantData) -> Blob {
    let subject = Digest::of(format!("{} to float32\0{}", from.name(), data.digest()).as_bytes());
    let [blob] = made_once::known(world, &subject, [data.bytes().len() * 2]).unwrap_or_else(|| {
        let mut writer = made_once::writer(world);
        for piece in data.bytes().chunks(PIECE) {
            writer.append(&widened(from, piece)).unwrap_or_else(|error| interrupt(error));
        }
        made_once::keep(world, &subject, [writer])
    });
    blob
}

/// The elements as `float32`. Plain loops over arrays, which compilers turn into vectors: a model has billions of weights.
fn widened(from: ScalarType, bytes: &[u8]) -> Vec<u8> {
    match from {
        ScalarType::Half => each(bytes, |bits| Half(bits).to_f32()),
        _ => each(bytes, |bits| f32::from_bits(u32::from(bits) << 16)),
    }
}

/// Every half, given by its bits, as `float32`.
fn each(bytes: &[u8], wide: impl Fn(u16) -> f32) -> Vec<u8> {
    let mut all = vec![0; bytes.len() * 2];
    for (to, half) in all.as_chunks_mut::<4>().0.iter_mut().zip(bytes.as_chunks::<2>().0) {
        *to = wide(u16::from_le_bytes(*half)).to_le_bytes();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_halves_keep_their_values() {
        let floats = |bytes: Vec<u8>| -> Vec<f32> {
            bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
        };
        let stored = |bits: [u16; 2]| -> Vec<u8> { bits.iter().flat_map(|bits| bits.to_le_bytes()).collect() };
        assert_eq!(floats(widened(ScalarType::BFloat16, &stored([0x3f80, 0xc020]))), [1.0, -2.5]);
        assert_eq!(floats(widened(ScalarType::Half, &stored([0x3c00, 0xc100]))), [1.0, -2.5]);
    }
}

//! Quantization of looked-up numbers: the table has the integers.

use etbuild_ir::{Argument, Graph, IdMap, Node, PerTensor, ValueId, ValueKind, evaluate_constant};

/// The operator that looks numbers up, and the position of its table.
const LOOK_UP: (&str, usize) = ("etbuild.pixels.default", 6);

/// Views, which move no number.
const VIEWS: [&str; 2] = ["aten.view_copy.default", "aten.view.default"];

/// Quantizes the tables of pictures that nothing but a quantization reads, and removes the quantization: a picture has four times as many bytes in
/// `float32`.
pub fn absorb(graph: &mut Graph) {
    let look_ups = graph.nodes.iter().enumerate().filter(|(_, node)| node.operator.as_str() == LOOK_UP.0);
    let found: Vec<Found> = look_ups.filter_map(|(index, _)| Found::of(graph, index)).collect();
    let mut replaced = IdMap::<ValueId>::default();
    for Found { quantization, views, look_up } in &found {
        let (Some(node), Some(quantized)) = (graph.nodes.get(*look_up), graph.nodes.get(*quantization)) else {
            continue;
        };
        let (node, quantized) = (node.clone(), quantized.clone());
        let Some(table) = integers(graph, &node, &quantized) else { continue };
        let scalar_type = graph.spec(table).scalar_type;
        let changed =
            views.iter().chain([look_up]).filter_map(|index| graph.nodes.get(*index)?.outputs.first().copied());
        for id in changed.collect::<Vec<_>>() {
            graph.values[id.index()].spec.scalar_type = scalar_type;
        }
        graph.nodes[*look_up].arguments[LOOK_UP.1] = Argument::Value(table);
        if let (Some(output), Some(Argument::Value(input))) = (quantized.outputs.first(), quantized.arguments.first()) {
            replaced.insert(*output, *input);
        }
    }
    graph.nodes.retain(|node| node.outputs.first().is_none_or(|output| replaced.get(*output).is_none()));
    let now = |id: ValueId| replaced.get(id).copied().unwrap_or(id);
    graph.nodes.iter_mut().for_each(|node| node.replace_uses(now));
    graph.replace_results(now);
}

/// The nodes of a picture that is quantized, by their indices.
struct Found {
    quantization: usize,
    views: Vec<usize>,
    look_up: usize,
}

impl Found {
    fn of(graph: &Graph, look_up: usize) -> Option<Self> {
        let (mut views, mut at) = (Vec::new(), look_up);
        loop {
            let numbers = graph.nodes.get(at)?.outputs.first()?;
            let mut readers = graph.nodes.iter().enumerate().filter(|(_, node)| node.uses().any(|id| id == *numbers));
            let (reader, node) = readers.next()?;
            if readers.next().is_some() || graph.results().any(|id| id == *numbers) {
                return None;
            }
            if PerTensor::of_quantize(node).is_some() {
                return Some(Self { quantization: reader, views, look_up });
            }
            if !VIEWS.contains(&node.operator.as_str()) {
                return None;
            }
            views.push(reader);
            at = reader;
        }
    }
}

/// The table of a look-up, quantized as `quantized` does, as a new constant.
fn integers(graph: &mut Graph, look_up: &Node, quantized: &Node) -> Option<ValueId> {
    let Some(Argument::Value(table)) = look_up.arguments.get(LOOK_UP.1) else { return None };
    let (value, scalar_type) = (graph.value(*table).clone(), PerTensor::of_quantize(quantized)?.scalar_type);
    let ValueKind::Constant { qualified_name, .. } = &value.kind else { return None };
    let mut spec = value.spec.clone();
    spec.scalar_type = scalar_type;
    let made = graph.add_value(&value.name, spec, ValueKind::Computed);
    let mut node = Node { outputs: vec![made], ..quantized.clone() };
    node.arguments[0] = Argument::Value(*table);
    let data = evaluate_constant(graph, &node)?;
    graph.values[made.index()].kind = ValueKind::Constant { qualified_name: qualified_name.clone(), data };
    Some(made)
}

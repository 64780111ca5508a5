//! Quantization of looked-up numbers: the table has the integers.

use etbuild_ir::{Argument, Graph, IdMap, Links, Node, PerTensor, ValueId, ValueKind, evaluate_constant};

/// The operator that looks numbers up, and the position of its table.
const LOOK_UP: (&str, usize) = ("etbuild.pixels.default", 6);

/// A view, which moves no number.
const VIEW: &str = "aten.view_copy.default";

/// Quantizes the tables of pictures that nothing but a quantization reads, and removes the quantization: a picture has four times as many
/// bytes in `float32`.
pub fn absorb(graph: &mut Graph) {
    let look_ups = graph.nodes.iter().enumerate().filter(|(_, node)| node.operator.as_str() == LOOK_UP.0);
    let look_ups: Vec<usize> = look_ups.map(|(position, _)| position).collect();
    if look_ups.is_empty() {
        return;
    }
    let links = Links::of(graph);
    let found: Vec<Found> = look_ups.into_iter().filter_map(|position| Found::of(&links, position)).collect();
    let mut replaced = IdMap::<ValueId>::default();
    for Found { look_up, numbers, quantization } in &found {
        let Some(table) = integers(graph, *look_up, quantization) else { continue };
        let scalar_type = graph.spec(table).scalar_type;
        numbers.iter().for_each(|id| graph.values[id.index()].spec.scalar_type = scalar_type);
        graph.nodes[*look_up].arguments[LOOK_UP.1] = Argument::Value(table);
        if let (Some(output), Some(last)) = (quantization.outputs.first(), numbers.last()) {
            replaced.insert(*output, *last);
        }
    }
    graph.nodes.retain(|node| node.outputs.first().is_none_or(|output| replaced.get(*output).is_none()));
    let now = |id: ValueId| replaced.get(id).copied().unwrap_or(id);
    graph.nodes.iter_mut().for_each(|node| node.replace_uses(now));
    graph.replace_results(now);
}

/// A picture that is quantized.
struct Found {
    /// The position of the node that looks up.
    look_up: usize,
    /// The numbers, and their views.
    numbers: Vec<ValueId>,
    quantization: Node,
}

impl Found {
    fn of(links: &Links<'_>, look_up: usize) -> Option<Self> {
        let mut numbers = vec![*links.graph.nodes.get(look_up)?.outputs.first()?];
        loop {
            let reader = links.only_reader(*numbers.last()?)?;
            if PerTensor::of_quantize(reader).is_some() {
                return Some(Self { look_up, numbers, quantization: reader.clone() });
            }
            if reader.operator.as_str() != VIEW {
                return None;
            }
            numbers.push(*reader.outputs.first()?);
        }
    }
}

/// The table of a look-up, quantized as a node quantizes, as a new constant.
fn integers(graph: &mut Graph, look_up: usize, quantization: &Node) -> Option<ValueId> {
    let Some(Argument::Value(table)) = graph.nodes.get(look_up)?.arguments.get(LOOK_UP.1).cloned() else { return None };
    let (value, scalar_type) = (graph.value(table).clone(), PerTensor::of_quantize(quantization)?.scalar_type);
    let ValueKind::Constant { qualified_name, .. } = value.kind else { return None };
    let mut spec = value.spec;
    spec.scalar_type = scalar_type;
    let made = graph.add_value(&value.name, spec, ValueKind::Computed);
    let mut node = Node { outputs: vec![made], ..quantization.clone() };
    node.arguments[0] = Argument::Value(table);
    let data = evaluate_constant(graph, &node)?;
    graph.values[made.index()].kind = ValueKind::Constant { qualified_name, data };
    Some(made)
}

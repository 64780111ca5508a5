//! The places of tensors, which are the same in all methods of a language model.

use std::collections::{BTreeMap, HashMap};

use etbuild_ir::{Graph, IdMap, Node, ValueKind};

use crate::parameters::Parameters;

/// qparams by the place of a tensor: its module, operator and number among the module's nodes of the operator.
pub type Ranges = BTreeMap<String, Parameters>;

/// The place of each tensor.
pub fn places(graph: &Graph) -> IdMap<String> {
    let mut places: IdMap<String> = graph.inputs.iter().map(|id| (*id, graph.value(*id).name.clone())).collect();
    for id in graph.nodes.iter().flat_map(Node::uses) {
        if let ValueKind::Constant { qualified_name, .. } = &graph.value(id).kind {
            places.insert(id, qualified_name.clone());
        }
    }
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    for node in &graph.nodes {
        let module = node.outputs.first().and_then(|id| graph.origins.get(*id)).map_or("", |module| module);
        let operator = node.operator.as_str();
        let count = counts.entry((module, operator)).or_default();
        for (position, id) in node.outputs.iter().enumerate() {
            places.insert(*id, format!("{module} {operator} {count} {position}"));
        }
        *count += 1;
    }
    places
}

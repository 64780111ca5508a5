//! Nodes that write in place: state and inputs get the new value in their own memory.

use et_ops::Outs;

use crate::{DelegateCall, Graph, IdMap, Node, ValueId, ValueKind};

/// The operands that a node writes in place, each with the value after the write: one of an operator, any number of a delegate call.
pub fn in_place(node: &Node) -> Vec<(ValueId, ValueId)> {
    if let Some(call) = DelegateCall::of(node) {
        return call.writes_in_place().collect();
    }
    let Some(operator) = et_ops::find_functional(&node.operator.qualified()) else { return Vec::new() };
    match (operator.outs(), node.uses().next(), &node.outputs[..]) {
        (Outs::FirstArgument, Some(target), [value]) => vec![(target, *value)],
        _ => Vec::new(),
    }
}

/// The nodes whose write in place is unsound, each with the reason. A sound write has state or an input as target,
/// the target is updated with the written value, and no other node reads the target, so nodes may be moved as their
/// values allow. Linear in the size of the graph.
pub fn unsound_writes(graph: &Graph) -> Vec<(&Node, &'static str)> {
    let of_node = |node| in_place(node).into_iter().map(move |(target, value)| (node, target, value));
    let writes: Vec<(&Node, ValueId, ValueId)> = graph.nodes.iter().flat_map(of_node).collect();
    if writes.is_empty() {
        return Vec::new();
    }
    let mut reads: IdMap<usize> = IdMap::default();
    let in_nodes = graph.nodes.iter().flat_map(Node::uses);
    for id in in_nodes.chain(graph.results()) {
        let known = reads.get(id).copied().unwrap_or(0);
        reads.insert(id, known + 1);
    }
    let mut updates: IdMap<ValueId> = IdMap::default();
    graph.updates.iter().for_each(|update| _ = updates.insert(update.target, update.value));
    let reason = |target: ValueId, value: ValueId| match graph.values.get(target.index()).map(|value| &value.kind) {
        Some(ValueKind::State { .. } | ValueKind::Input) if updates.get(target) != Some(&value) => {
            Some("the written value is not the update of the target")
        }
        Some(ValueKind::State { .. } | ValueKind::Input) if reads.get(target) == Some(&1) => None,
        Some(ValueKind::State { .. } | ValueKind::Input) => Some("another node reads the target"),
        _ => Some("the target is neither state nor an input"),
    };
    writes.into_iter().filter_map(|(node, target, value)| Some((node, reason(target, value)?))).collect()
}

#[cfg(test)]
mod tests {
    use crate::text::parse;
    use crate::{Aten, ConstantData, Program, Verified, aliases, copied_updates, is_elided};

    const DIGEST: &str = "b3:ec2bd03bf86b935fa34d71ad7ebb049f1f10f87d343e521511d8f9e6625620cd";

    /// A method that writes rows to a cache, followed by the lines `rest`.
    fn program(rest: &str) -> Program {
        let text = format!(
            "etbuild-ir 1 aten
method forward
  input %rows: float32[1, 1, 1, 1]
  input %start: int64[1]
  input %last: int64[1]
  state %cache: float32[1, 1, 1, 1] = \"cache\" {DIGEST}
  %new: float32[1, 1, 1, 1] = etbuild.write_cache.default(%cache, %rows, %start, %last)
{rest}"
        );
        let data = ConstantData::new(vec![0_u8; 4]);
        parse(&text, &mut |_| Some(data.clone())).unwrap().1
    }

    fn is_sound(rest: &str) -> bool {
        let verified: Result<Verified<Aten>, _> = Verified::verify(program(rest));
        verified.is_ok()
    }

    #[test]
    fn updated_state_is_written_in_place() {
        let program = program("  update %cache %new\n  return %new\n");
        let graph = &program.methods["forward"];
        let aliases = aliases(graph);
        assert_eq!(aliases.get(graph.nodes[0].outputs[0]), Some(&graph.updates[0].target));
        assert!(!is_elided(&graph.nodes[0], &aliases));
        assert_eq!(copied_updates(graph, &aliases).count(), 0);
    }

    #[test]
    fn the_target_of_a_write_is_updated_and_not_read_elsewhere() {
        assert!(is_sound("  update %cache %new\n  return %new\n"));
        assert!(!is_sound("  return %new\n"));
        assert!(!is_sound("  update %cache %rows\n  return %new\n"));
        assert!(!is_sound("  update %cache %new\n  return %cache\n"));
    }
}

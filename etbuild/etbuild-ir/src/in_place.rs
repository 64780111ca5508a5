//! Nodes that write in place: state and inputs get the new value in their own memory.

use et_ops::Outs;

use crate::{Argument, Control, DelegateCall, Graph, IdMap, Node, ValueId, ValueKind};

/// Operators that may write the state behind their rows over the state ahead of them, each with the argument that is the state. Its new value is the last output.
const STEPS: &[(&str, usize)] = &[("etbuild.gated_delta.default", 7), ("etbuild.selective_scan.default", 5)];

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

/// The states that a node may step in place, by their new values: the state is updated with the value, and no other node reads the state.
/// Linear in the size of the graph.
pub fn stepped_states(graph: &Graph) -> IdMap<ValueId> {
    let mut stepped = IdMap::default();
    let pairs: Vec<(ValueId, ValueId)> = graph.nodes.iter().filter_map(step).collect();
    // A node that runs several times reads the state of the method's start each time.
    if pairs.is_empty() || graph.nodes.iter().any(|node| Control::of(node).is_some()) {
        return stepped;
    }
    let (reads, updates) = (reads(graph), updates(graph));
    for (state, value) in pairs {
        let is_state = matches!(graph.value(state).kind, ValueKind::State { .. });
        if is_state && reads.get(state) == Some(&1) && updates.get(state) == Some(&value) {
            stepped.insert(value, state);
        }
    }
    stepped
}

/// The state of a node and the state's new value, for operators in [`STEPS`].
fn step(node: &Node) -> Option<(ValueId, ValueId)> {
    let (_, position) = STEPS.iter().find(|(operator, _)| *operator == node.operator.as_str())?;
    match (node.arguments.get(*position), node.outputs.last()) {
        (Some(Argument::Value(state)), Some(value)) => Some((*state, *value)),
        _ => None,
    }
}

/// How often nodes and results read each value.
fn reads(graph: &Graph) -> IdMap<usize> {
    let mut reads = IdMap::default();
    let in_nodes = graph.nodes.iter().flat_map(Node::uses);
    for id in in_nodes.chain(graph.results()) {
        let known = reads.get(id).copied().unwrap_or(0);
        reads.insert(id, known + 1);
    }
    reads
}

/// The new value of each target of an update.
fn updates(graph: &Graph) -> IdMap<ValueId> {
    let mut updates = IdMap::default();
    graph.updates.iter().for_each(|update| _ = updates.insert(update.target, update.value));
    updates
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
    let (reads, updates) = (reads(graph), updates(graph));
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

    /// A method that steps a state, followed by the lines `rest`.
    fn stepped(rest: &str) -> usize {
        let text = format!(
            "etbuild-ir 1 aten
method forward
  input %rows: float32[1, 1, 1, 1]
  input %sizes: float32[1, 1, 1]
  input %rates: float32[1]
  input %start: int64[1]
  state %state: float32[1, 1, 1] = \"state\" {DIGEST}
  (%out: float32[1, 1, 1, 1], %behind: float32[1, 1, 1]) = etbuild.gated_delta.default(%rows, %rows, %rows, %sizes, %sizes, %rates, %rates, %state, %start, %start)
{rest}"
        );
        let data = ConstantData::new(vec![0_u8; 4]);
        let program = parse(&text, &mut |_| Some(data.clone())).unwrap().1;
        let graph = &program.methods["forward"];
        let aliases = aliases(graph);
        assert!(!graph.nodes.iter().any(|node| is_elided(node, &aliases)));
        assert_eq!(aliases.iter().count(), graph.updates.len() - copied_updates(graph, &aliases).count());
        aliases.iter().count()
    }

    #[test]
    fn states_are_stepped_in_place_where_nothing_else_reads_them() {
        assert_eq!(stepped("  update %state %behind\n  return %out\n"), 1);
        assert_eq!(stepped("  update %state %behind\n  return %out, %behind\n"), 1);
        assert_eq!(stepped("  update %state %behind\n  return %out, %state\n"), 0);
        assert_eq!(stepped("  return %out, %behind\n"), 0);
        assert_eq!(
            stepped("  %more: float32[1, 1, 1] = aten.neg.default(%state)\n  update %state %behind\n  return %more\n"),
            0
        );
    }
}

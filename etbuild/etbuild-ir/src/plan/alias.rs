//! Views without copies: values that share the bytes of another value.

use std::collections::HashSet;

use crate::{Graph, IdMap, Node, Update, ValueId, ValueKind, in_place, stepped_states};

/// Operators whose output has the elements of the first argument in the same row-major order.
const VIEWS: &[&str] = &[
    "aten.alias_copy.default",
    "aten.detach_copy.default",
    "aten.squeeze_copy.default",
    "aten.squeeze_copy.dim",
    "aten.squeeze_copy.dims",
    "aten.unsqueeze_copy.default",
    "aten.view_copy.default",
];

/// The values that share the memory of another value, each with the first value of the chain. The node of an alias
/// moves no bytes and becomes no instruction.
///
/// Not aliases: views of constants, since constants are outside of the arenas; views of inputs or state that are
/// outputs or updates, because writing the next input, or the update, would change the view; views of values with
/// several producers. The result of a write in place, or of a step of a state, is an alias of the written value, but its node is an
/// instruction. Linear in the size of the graph.
pub fn aliases(graph: &Graph) -> IdMap<ValueId> {
    let results: HashSet<ValueId> = graph.results().collect();
    let written_again = written_again(graph);
    let mut aliases = stepped_states(graph);
    for node in &graph.nodes {
        let writes = in_place(node);
        for (target, value) in &writes {
            aliases.insert(*value, aliases.get(*target).copied().unwrap_or(*target));
        }
        if !writes.is_empty() {
            continue;
        }
        let Some((source, view)) = view(graph, node) else { continue };
        let root = aliases.get(source).copied().unwrap_or(source);
        let lasts = !matches!(graph.value(root).kind, ValueKind::Computed);
        let escapes = lasts && results.contains(&view);
        let moves = written_again.contains(&root) || written_again.contains(&view);
        if graph.needs_memory(root) && !escapes && !moves {
            aliases.insert(view, root);
        }
    }
    aliases
}

/// Whether a node becomes no instruction, because its output is an alias.
pub fn is_elided(node: &Node, aliases: &IdMap<ValueId>) -> bool {
    !node.outputs.is_empty() && node.outputs.iter().all(|id| aliases.get(*id).is_some()) && in_place(node).is_empty()
}

/// The updates that need a copy: the new value is not in the memory of the target.
pub fn copied_updates<'a>(graph: &'a Graph, aliases: &'a IdMap<ValueId>) -> impl Iterator<Item = &'a Update> {
    graph.updates.iter().filter(|update| aliases.get(update.value) != Some(&update.target))
}

/// The values with several producers, such as results of branches and loops, and the targets of updates.
fn written_again(graph: &Graph) -> HashSet<ValueId> {
    let mut seen = HashSet::new();
    let computed = graph.nodes.iter().flat_map(|node| node.outputs.iter().copied());
    let again = computed.filter(|id| !seen.insert(*id)).collect::<Vec<_>>();
    again.into_iter().chain(graph.updates.iter().map(|update| update.target)).collect()
}

/// Operand and result of a node that changes only the shape.
fn view(graph: &Graph, node: &Node) -> Option<(ValueId, ValueId)> {
    let source = VIEWS.contains(&node.operator.as_str()).then(|| node.uses().next())??;
    let [result] = node.outputs[..] else { return None };
    let (from, to) = (graph.spec(source), graph.spec(result));
    let same_bytes = from.scalar_type == to.scalar_type && from.numel() == to.numel();
    let fixed = !from.is_dynamic() && !to.is_dynamic();
    (same_bytes && fixed && from.is_contiguous() && to.is_contiguous()).then_some((source, result))
}

#[cfg(test)]
mod tests {
    use super::aliases;
    use crate::text::parse;
    use crate::{Graph, ValueId};

    fn graph(lines: &str) -> Graph {
        let text = format!("etbuild-ir 1 edge\nmethod forward\n{lines}");
        let data = crate::ConstantData::new(vec![0_u8; 4]);
        let (_, program) = parse(&text, &mut |_| Some(data.clone())).unwrap();
        program.methods["forward"].clone()
    }

    #[test]
    fn a_chain_of_views_aliases_the_first_value() {
        let graph = graph(
            "  input %x: float32[2, 1]
  %y: float32[2, 1] = aten.relu.default(%x)
  %a: float32[2] = aten.view_copy.default(%y, [2])
  %b: float32[1, 2] = aten.unsqueeze_copy.default(%a, 0)
  return %b
",
        );
        let found: Vec<_> = aliases(&graph).iter().map(|(view, root)| (view, *root)).collect();
        assert_eq!(found, [(ValueId(2), ValueId(1)), (ValueId(3), ValueId(1))]);
    }

    #[test]
    fn a_view_of_an_input_that_is_an_output_is_copied() {
        let graph = graph(
            "  input %x: float32[2, 1]
  %a: float32[2] = aten.view_copy.default(%x, [2])
  %b: float32[1, 2] = aten.unsqueeze_copy.default(%a, 0)
  return %b
",
        );
        let found: Vec<_> = aliases(&graph).iter().map(|(view, root)| (view, *root)).collect();
        assert_eq!(found, [(ValueId(1), ValueId(0))]);
    }

    #[test]
    fn views_of_constants_and_of_other_layouts_are_copied() {
        let graph = graph(
            "  input %x: float32[1, 2, 1, 2]{0, 2, 3, 1}
  constant %c: float32[1] = \"c\" b3:ec2bd03bf86b935fa34d71ad7ebb049f1f10f87d343e521511d8f9e6625620cd
  %a: float32[4] = aten.view_copy.default(%x, [4])
  %b: float32[] = aten.view_copy.default(%c, [])
  return %a, %b
",
        );
        assert_eq!(aliases(&graph).iter().count(), 0);
    }
}

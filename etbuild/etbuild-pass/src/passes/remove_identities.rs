//! Removes nodes that return their operand unchanged, and lets views of views read the source.

use etbuild_ir::{Argument, Graph, IdMap, Node, ValueId};

use crate::Refusal;
use crate::pass::Pass;

/// The pass.
pub static PASS: Pass =
    Pass { name: "remove_identities", purpose: "Removes nodes that return their operand unchanged.", run };

/// Operators that return the first argument unchanged where type and shape are the same.
const IDENTITIES: &[&str] = &["alias", "clone", "detach", "expand", "expand_copy", "view", "view_copy", "_to_copy"];
/// Operators that change only the shape.
const RESHAPES: &[&str] = &["view", "view_copy"];

fn run(mut graph: Graph) -> Result<Graph, Vec<Refusal>> {
    let (mut replaced, mut viewed) = (IdMap::<ValueId>::default(), IdMap::<ValueId>::default());
    for mut node in std::mem::take(&mut graph.nodes) {
        node.replace_uses(|id| replaced.get(id).copied().unwrap_or(id));
        skip_views(&mut node, &mut viewed);
        match identity(&graph, &node) {
            Some((output, operand)) => drop(replaced.insert(output, operand)),
            None => graph.nodes.push(node),
        }
    }
    graph.replace_results(|id| replaced.get(id).copied().unwrap_or(id));
    Ok(graph)
}

/// Lets a view of a view read the source.
fn skip_views(node: &mut Node, viewed: &mut IdMap<ValueId>) {
    let Some((output, operand)) = ends(node).filter(|_| RESHAPES.contains(&node.operator.name())) else { return };
    let source = viewed.get(operand).copied().unwrap_or(operand);
    viewed.insert(output, source);
    if let Some(first) = node.arguments.first_mut() {
        *first = Argument::Value(source);
    }
}

fn ends(node: &Node) -> Option<(ValueId, ValueId)> {
    match (&node.outputs[..], node.arguments.first()) {
        ([output], Some(Argument::Value(operand))) => Some((*output, *operand)),
        _ => None,
    }
}

/// The output and the operand of a node that returns the operand unchanged.
fn identity(graph: &Graph, node: &Node) -> Option<(ValueId, ValueId)> {
    let (output, operand) = ends(node)?;
    // Dynamic sizes with equal bounds may differ at run time.
    let same_spec = graph.spec(output) == graph.spec(operand) && !graph.spec(output).is_dynamic();
    let passes_on = match (node.operator.name(), node.arguments.get(1..)?) {
        ("permute" | "permute_copy", [Argument::Ints(dims)]) => {
            dims.iter().enumerate().all(|(position, dim)| *dim == position as i64)
        }
        ("slice" | "slice_copy", [.., Argument::Int(step)]) => *step == 1,
        (name, _) => IDENTITIES.contains(&name),
    };
    (same_spec && passes_on).then_some((output, operand))
}

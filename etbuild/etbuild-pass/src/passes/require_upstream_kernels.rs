//! Refuses a program with operators that ExecuTorch's runtime lacks, all of them at once.

use et_ops::{Operator, Primitive};
use etbuild_ir::{Graph, Node};

use crate::pass::Pass;
use crate::{Reason, Refusal};

/// The pass.
pub static PASS: Pass =
    Pass { name: "require_upstream_kernels", purpose: "Refuses operators that ExecuTorch's runtime lacks.", run };

fn run(graph: Graph) -> Result<Graph, Vec<Refusal>> {
    let missing = graph.nodes.iter().filter(|node| !has_upstream(node) || is_convolution_of_volumes(&graph, node));
    let refusals: Vec<_> = missing.map(|node| Refusal::new(&graph, node, Reason::NotUpstream)).collect();
    if refusals.is_empty() { Ok(graph) } else { Err(refusals) }
}

fn has_upstream(node: &Node) -> bool {
    let operator = et_ops::find_functional(&node.operator.qualified()).map(Operator::name);
    let primitive = node.operator.primitive().map(Primitive::name);
    node.operator.runs_graphs() || operator.or(primitive).is_some_and(et_ops::has_upstream)
}

/// Whether the node convolves over three dimensions, which upstream's kernel of that name refuses.
fn is_convolution_of_volumes(graph: &Graph, node: &Node) -> bool {
    node.operator.name() == "convolution" && node.uses().next().is_some_and(|input| graph.spec(input).rank() > 4)
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;
    use etbuild_ir::{Argument, OperatorName, TensorSpec, ValueKind};

    use super::*;

    #[test]
    fn a_kernel_of_ours_alone_is_refused() {
        let mut graph = Graph::default();
        let spec = TensorSpec::contiguous(ScalarType::Float, [2, 2]);
        let x = graph.add_value("x", spec.clone(), ValueKind::Input);
        for name in ["relu", "linear"] {
            let output = graph.add_value(name, spec.clone(), ValueKind::Computed);
            let operator = OperatorName::aten(name, "default");
            graph.nodes.push(Node { operator, arguments: vec![Argument::Value(x)], outputs: vec![output] });
        }
        let refusals = run(graph).unwrap_err();
        assert_eq!(refusals.len(), 1);
        assert_eq!((&refusals[0].operator[..], &refusals[0].reason), ("aten.linear.default", &Reason::NotUpstream));
    }
}

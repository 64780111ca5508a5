//! Bounds of sizes that archives leave open.

use etbuild_ir::Interval;

use super::model::{Argument, GraphBody, Model, SymInt};
use super::spec;
use super::symbol::Symbols;

/// The ranges in an archive, and those of the numbers of boxes that `torchvision::nms` keeps: none to all. Torchvision states
/// no upper bound, and a lower bound of 2 that eager mode does not have.
pub fn symbols(model: &Model) -> Symbols {
    let (graph, mut symbols) = (&model.graph_module.graph, Symbols::new(&model.range_constraints));
    for node in graph.nodes.iter().filter(|node| node.target == "torch.ops.torchvision.nms.default") {
        let boxes = first_size(graph, node.inputs.first().map(|input| &input.arg));
        let boxes = boxes.and_then(|size| spec::range(size, &symbols));
        let kept = first_size(graph, node.outputs.first());
        let (Some(boxes), Some(SymInt::Expression(kept))) = (boxes, kept) else { continue };
        if let Some(name) = kept.expr_str.strip_prefix("Symbol('").and_then(|rest| rest.split('\'').next()) {
            symbols.limit(name, Interval { least: 0, most: boxes.most });
        }
    }
    symbols
}

fn first_size<'a>(graph: &'a GraphBody, tensor: Option<&Argument>) -> Option<&'a SymInt> {
    let Some(Argument::AsTensor(named)) = tensor else { return None };
    graph.tensor_values.get(&named.name)?.sizes.first()
}

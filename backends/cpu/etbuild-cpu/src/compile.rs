//! From a partition to its program: lowering emits an instruction for each node, then fusion joins instructions.

use std::collections::BTreeMap;

use etbuild_ir::Links;

use crate::builder::Builder;
use crate::call::Call;
use crate::fuse::fuse;
use crate::lower::{attention, rule};
use crate::passes::find_attention;
use crate::program::Program;
use crate::{Architecture, Problem};

/// The fused program of a partition.
pub fn compile<'g>(links: &'g Links<'g>, architecture: Architecture) -> Result<Program<'g>, Problem> {
    let graph = links.graph;
    let mut builder = Builder::new(links, architecture);
    let (matches, replaced) = find_attention(graph);
    let matches: BTreeMap<usize, _> = matches.iter().map(|found| (found.position, found)).collect();
    for (position, node) in graph.nodes.iter().enumerate() {
        builder.node = position;
        if let Some(found) = matches.get(&position) {
            attention::found(&mut builder, found)?;
        } else if !replaced.contains(&position) {
            let rule = rule(node).ok_or(Problem::Operator)?;
            (rule.lower)(&mut builder, Call::new(links, node))?;
        }
    }
    results(&mut builder)?;
    let mut program = builder.program;
    fuse(&mut program);
    Ok(program)
}

/// Assigns the output tensors of the partition: an instruction writes directly to the output where the layouts agree.
fn results(builder: &mut Builder<'_>) -> Result<(), Problem> {
    let graph = builder.links.graph;
    for (position, id) in (0..).zip(&graph.outputs) {
        let (tensor, spec) = (builder.tensor(*id)?, graph.spec(*id));
        builder.result(position, &tensor, spec);
    }
    Ok(())
}

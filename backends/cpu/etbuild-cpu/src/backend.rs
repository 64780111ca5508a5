//! The engine as a backend.

use std::collections::BTreeMap;

use etbuild_backend::{Backend, Blob, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Graph, Node};

use crate::builder::Builder;
use crate::call::Call;
use crate::lower::{attention, rule};
use crate::passes::find_attention;
use crate::{Isa, Problem, capability, write};

/// The engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

/// The engine, for lists of backends.
pub static CPU: Cpu = Cpu;

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn delegate_id(&self) -> &'static str {
        et_cpu::ID
    }

    fn device_crate(&self) -> &'static str {
        "et-cpu"
    }

    fn revision(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        vec![("isa".to_owned(), isa(target).map_or("none", Isa::name).to_owned())]
    }

    fn refusal(&self, graph: &Graph, node: &Node, target: &TargetFacts) -> Option<Refusal> {
        match isa(target) {
            None => Some(Refusal::new(RefusalKind::Target, "the target has no instruction set of the engine")),
            Some(_) => capability::refusal(graph, node),
        }
    }

    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        let isa = isa(target).ok_or_else(|| Refusal::new(RefusalKind::Target, "the target has no instruction set"))?;
        Ok(lower(graph, isa)?)
    }
}

/// The best instruction set of a target.
fn isa(target: &TargetFacts) -> Option<Isa> {
    let is_hosted = target.hosted && matches!(target.architecture.as_str(), "x86_64" | "aarch64");
    let named = target.features.iter().filter_map(|feature| Isa::from_name(feature)).max();
    is_hosted.then(|| named.unwrap_or(Isa::Portable))
}

fn lower(graph: &Graph, isa: Isa) -> Result<Blob, Problem> {
    let mut builder = Builder::new(graph, isa);
    let (matches, replaced) = find_attention(graph);
    let matches: BTreeMap<usize, _> = matches.iter().map(|found| (found.position, found)).collect();
    for (position, node) in graph.nodes.iter().enumerate() {
        if let Some(found) = matches.get(&position) {
            attention::found(&mut builder, found)?;
        } else if !replaced.contains(&position) {
            let rule = rule(node).ok_or(Problem::Operator)?;
            (rule.lower)(&mut builder, Call { graph, node })?;
        }
    }
    results(&mut builder)?;
    write::blob(builder)
}

/// Puts the results where the caller wants them: the instruction that makes one writes it there where it can.
fn results(builder: &mut Builder<'_>) -> Result<(), Problem> {
    for (position, id) in (0..).zip(&builder.graph.outputs) {
        let (tensor, spec) = (builder.tensor(*id)?, builder.graph.spec(*id));
        builder.result(position, &tensor, spec);
    }
    Ok(())
}

//! The CPU backend as an etbuild backend.

use std::collections::{BTreeMap, BTreeSet};

use etbuild_backend::{Backend, Blob, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Graph, Links, Node};

use crate::builder::Builder;
use crate::call::Call;
use crate::features::features;
use crate::lower::{attention, back_to_back, factors, rule, unread};
use crate::passes::find_attention;
use crate::{Architecture, Problem, capability, write};

/// The CPU backend.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

/// The CPU backend, for lists of backends.
pub static BACKEND: Cpu = Cpu;

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

    fn device_features(&self, blob: &[u8]) -> BTreeSet<&'static str> {
        features(blob)
    }

    fn revision(&self) -> &'static str {
        env!("ETBUILD_CPU_REVISION")
    }

    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        let name = architecture(target).map_or("none", Architecture::name);
        vec![("architecture".to_owned(), name.to_owned())]
    }

    fn runs_on(&self, target: &TargetFacts) -> bool {
        architecture(target).is_some()
    }

    fn refusal(&self, links: &Links<'_>, node: &Node, target: &TargetFacts) -> Option<Refusal> {
        match architecture(target) {
            Some(_) => capability::refusal(links, node),
            None => Some(no_instruction_set()),
        }
    }

    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        let architecture = architecture(target).ok_or_else(no_instruction_set)?;
        Ok(lower(graph, architecture)?)
    }
}

fn no_instruction_set() -> Refusal {
    Refusal::new(RefusalKind::Target, "the target lacks an instruction set that the backend supports")
}

/// The architecture of a hosted target whose CPUs have the baseline ISA.
fn architecture(target: &TargetFacts) -> Option<Architecture> {
    let architecture = Architecture::from_name(&target.architecture).filter(|_| target.hosted)?;
    target.has(architecture.baseline().name()).then_some(architecture)
}

fn lower(graph: &Graph, architecture: Architecture) -> Result<Blob, Problem> {
    let links = Links::of(graph);
    let mut builder = Builder::new(&links, architecture);
    let (matches, replaced) = find_attention(graph);
    let matches: BTreeMap<usize, _> = matches.iter().map(|found| (found.position, found)).collect();
    for (position, node) in graph.nodes.iter().enumerate() {
        builder.node = position;
        if let Some(found) = matches.get(&position) {
            attention::found(&mut builder, found)?;
        } else if !replaced.contains(&position) {
            let rule = rule(node).ok_or(Problem::Operator)?;
            (rule.lower)(&mut builder, Call::new(&links, node))?;
        }
    }
    results(&mut builder)?;
    unread::remove(&mut builder);
    back_to_back::join(&mut builder);
    factors::join(&mut builder);
    Ok(write::blob(&builder))
}

/// Assigns the output tensors of the partition: an instruction writes directly to the output where the layouts agree.
fn results(builder: &mut Builder<'_>) -> Result<(), Problem> {
    for (position, id) in (0..).zip(&builder.graph.outputs) {
        let (tensor, spec) = (builder.tensor(*id)?, builder.graph.spec(*id));
        builder.result(position, &tensor, spec);
    }
    Ok(())
}

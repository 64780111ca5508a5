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

    fn revision(&self) -> &'static str {
        env!("ETBUILD_CPU_REVISION")
    }

    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        let names: Vec<&str> = instruction_sets(target).into_iter().map(Isa::name).collect();
        vec![("instruction sets".to_owned(), names.join(" "))]
    }

    fn refusal(&self, graph: &Graph, node: &Node, target: &TargetFacts) -> Option<Refusal> {
        if instruction_sets(target).is_empty() { Some(no_instruction_set()) } else { capability::refusal(graph, node) }
    }

    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        let sets = instruction_sets(target);
        if sets.is_empty() {
            return Err(no_instruction_set());
        }
        let blobs = sets.into_iter().map(|isa| Ok((isa, lower(graph, isa)?)));
        Ok(write::variants(&blobs.collect::<Result<Vec<_>, Problem>>()?))
    }
}

fn no_instruction_set() -> Refusal {
    Refusal::new(RefusalKind::Target, "the target has no instruction set of the engine")
}

/// The instruction sets that a partition is lowered for: one for each form of weights. Products of bytes do not change the
/// form of `float32` weights.
fn instruction_sets(target: &TargetFacts) -> Vec<Isa> {
    let sets: &[(&str, Isa)] = match target.architecture.as_str() {
        "x86_64" if target.hosted => &[("avx2", Isa::Avx2), ("avx512", Isa::Avx512)],
        "aarch64" if target.hosted => &[("neon", Isa::Neon)],
        _ => &[],
    };
    sets.iter().filter(|(name, _)| target.has(name)).map(|(_, isa)| *isa).collect()
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

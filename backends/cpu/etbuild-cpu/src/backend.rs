//! The CPU backend as an etbuild backend.

use std::collections::{BTreeMap, BTreeSet};

use etbuild_backend::{Backend, Blob, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Graph, Links, Node};

use crate::builder::Builder;
use crate::call::Call;
use crate::features::features;
use crate::lower::{attention, back_to_back, factors, rule, unread};
use crate::passes::find_attention;
use crate::shared::Shared;
use crate::write::Draft;
use crate::{Isa, Problem, capability, write};

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
        let names: Vec<&str> = instruction_sets(target, true).into_iter().map(Isa::name).collect();
        vec![("instruction sets".to_owned(), names.join(" "))]
    }

    fn refusal(&self, links: &Links<'_>, node: &Node, target: &TargetFacts) -> Option<Refusal> {
        if has_instruction_set(target) { capability::refusal(links, node) } else { Some(no_instruction_set()) }
    }

    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        if !has_instruction_set(target) {
            return Err(no_instruction_set());
        }
        let sets = instruction_sets(target, uses_bytes(graph));
        let mut shared = Shared::new(graph);
        let drafts = sets.into_iter().map(|isa| Ok((isa, lower(graph, isa, &mut shared)?)));
        let drafts = drafts.collect::<Result<Vec<_>, Problem>>()?;
        let blob = write::variants(&drafts, shared.inputs());
        Ok(Blob { weights: shared.into_weights(), ..blob })
    }
}

fn no_instruction_set() -> Refusal {
    Refusal::new(RefusalKind::Target, "the target has no instruction set of the engine")
}

/// An instruction set with its target feature name; the flag marks instruction sets for int8 GEMM only, whose f32 packing
/// equals the packing of the preceding entry.
struct Set(&'static str, Isa, bool);

/// The instruction sets that a partition is lowered for: one per packing format of weights.
fn instruction_sets(target: &TargetFacts, uses_bytes: bool) -> Vec<Isa> {
    let sets: &[Set] = match target.architecture.as_str() {
        "x86_64" if target.hosted => &[
            Set("avx2", Isa::Avx2, false),
            Set("avx512", Isa::Avx512, false),
            Set("avx512vnni", Isa::Avx512Vnni, true),
        ],
        "aarch64" if target.hosted => &[Set("neon", Isa::Neon, false), Set("dotprod", Isa::NeonDot, true)],
        _ => &[],
    };
    let named = sets.iter().filter(|Set(name, _, bytes)| target.has(name) && (uses_bytes || !bytes));
    let mut chosen: Vec<Isa> = named.map(|Set(_, isa, _)| *isa).collect();
    // Processors with AVX-512 but without VNNI are rare, and have AVX2.
    chosen.dedup_by(|next, last| {
        (*last, *next) == (Isa::Avx512, Isa::Avx512Vnni) && {
            *last = *next;
            true
        }
    });
    chosen
}

fn has_instruction_set(target: &TargetFacts) -> bool {
    !instruction_sets(target, false).is_empty()
}

/// Whether a partition has int8 tensors.
fn uses_bytes(graph: &Graph) -> bool {
    graph.nodes.iter().any(|node| node.operator.name().starts_with("quantize_"))
}

fn lower(graph: &Graph, isa: Isa, shared: &mut Shared) -> Result<Draft, Problem> {
    let links = Links::of(graph);
    let mut builder = Builder::new(&links, isa);
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
    Ok(write::draft(builder, shared))
}

/// Assigns the output tensors of the partition: an instruction writes directly to the output where the layouts agree.
fn results(builder: &mut Builder<'_>) -> Result<(), Problem> {
    for (position, id) in (0..).zip(&builder.graph.outputs) {
        let (tensor, spec) = (builder.tensor(*id)?, builder.graph.spec(*id));
        builder.result(position, &tensor, spec);
    }
    Ok(())
}

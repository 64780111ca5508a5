//! The CPU backend as an etbuild backend.

use std::collections::BTreeSet;

use etbuild_backend::{Backend, Blob, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Graph, Links, Node};

use crate::compile::compile;
use crate::features::features;
use crate::fuse::FUSIONS;
use crate::text::text;
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
    Ok(write::blob(&compile(&Links::of(graph), architecture)?))
}

/// The text of a partition's program after fusion, an instruction per line.
///
/// # Errors
/// As lowering.
pub fn program_text(graph: &Graph) -> Result<String, Problem> {
    Ok(text(&compile(&Links::of(graph), Architecture::Portable)?))
}

/// The names of all fusions, in order of priority.
pub fn fusion_names() -> impl Iterator<Item = &'static str> {
    FUSIONS.iter().map(|fusion| fusion.name)
}

//! The backend as an etbuild backend.

use etbuild_backend::{Backend, Blob, Compiler, NpuFacts, Refusal, RefusalKind, Search, Simulation, TargetFacts};
use etbuild_ir::{Graph, Links, Node};

use crate::NAME;
use crate::compile::Device;
use crate::groups::Groups;
use crate::lower;
use crate::partition::Partition;
use crate::parts;
use crate::simulate::{SIMULATED, simulate};
use crate::worker::{Work, work_apart};

/// The backend `qnn`.
#[derive(Clone, Copy, Debug)]
pub struct Qnn;

/// The backend, for lists of backends.
pub static BACKEND: Qnn = Qnn;

/// The vendor's compiler.
static COMPILER: Compiler = Compiler {
    kit: "Qualcomm's QNN SDK",
    variable: et_qnn::build::ROOT,
    search: Search::Library(et_qnn::build::FOLDERS),
    file: et_qnn::build::FILE,
    page: "docs/npu.md",
};

impl Backend for Qnn {
    fn name(&self) -> &'static str {
        NAME
    }

    fn delegate_id(&self) -> &'static str {
        et_qnn::ID
    }

    fn device_crate(&self) -> &'static str {
        "et-qnn"
    }

    fn explains_failures(&self) -> bool {
        true
    }

    fn opens_libraries(&self) -> bool {
        true
    }

    fn device_variables(&self) -> &'static [(&'static str, &'static str)] {
        &[("LD_LIBRARY_PATH", "."), ("ADSP_LIBRARY_PATH", ".")]
    }

    fn revision(&self) -> &'static str {
        env!("ETBUILD_QNN_REVISION")
    }

    fn compiler(&self) -> Option<&'static Compiler> {
        Some(&COMPILER)
    }

    fn simulation(&self) -> Option<Simulation> {
        Some(Simulation { outputs: simulate, backend: &SIMULATED })
    }

    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        let contexts: Vec<String> = target.contexts.iter().map(u32::to_string).collect();
        vec![
            ("operations of soc".to_owned(), operations(target)),
            ("contexts".to_owned(), contexts.join(" ")),
            ("most weights".to_owned(), most_weights(target).to_string()),
        ]
    }

    fn join_facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        vec![
            ("soc".to_owned(), soc(target).unwrap_or("none").to_owned()),
            ("shares weights".to_owned(), shares_weights(target).to_string()),
        ]
    }

    fn runs_on(&self, _target: &TargetFacts) -> bool {
        // Recipes ask for the NPU by name: its compiler is the user's.
        false
    }

    fn executes_on(&self, target: &TargetFacts) -> bool {
        target.hosted && matches!(target.npu, Some(NpuFacts::Qualcomm { .. }))
    }

    fn writes_state(&self) -> bool {
        true
    }

    fn refusal(&self, links: &Links<'_>, node: &Node, target: &TargetFacts) -> Option<Refusal> {
        device(target, |soc| soc.number).err().or_else(|| lower::refusal(links, node))
    }

    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        let device = device(target, |soc| soc.oldest)?;
        let partition = lower::for_contexts(&Links::of(graph), &target.contexts)?;
        let bytes = postcard::to_stdvec(&partition).map_err(|error| refused(error.to_string()))?;
        drop(partition);
        work_apart(Work::Check, &[&bytes], device)?;
        Ok(Blob { bytes, ..Blob::default() })
    }

    fn joins(&self) -> bool {
        true
    }

    fn parts(&self, graph: &Graph, target: &TargetFacts) -> Vec<usize> {
        parts::parts(graph, most_weights(target))
    }

    fn groups(&self, parts: &[&[u8]], target: &TargetFacts) -> Result<Vec<Vec<usize>>, Refusal> {
        let mut groups = Groups::new(most_weights(target));
        for part in parts {
            let partition: Partition = postcard::from_bytes(part).map_err(|error| refused(error.to_string()))?;
            groups.add(&partition);
        }
        Ok(groups.finish())
    }

    fn join(&self, parts: &[&[u8]], target: &TargetFacts) -> Result<Vec<u8>, Refusal> {
        work_apart(Work::Compile, parts, device(target, |soc| soc.number)?)
    }
}

fn refused(reason: String) -> Refusal {
    Refusal::new(RefusalKind::Partition, reason)
}

/// Whether the graphs of a context share weights on the target: the simulator of the build machine cannot load such contexts.
fn shares_weights(target: &TargetFacts) -> bool {
    target.architecture != "x86_64"
}

/// The chip of a target.
fn soc(target: &TargetFacts) -> Option<&str> {
    match &target.npu {
        Some(NpuFacts::Qualcomm { soc }) => Some(soc),
        _ => None,
    }
}

/// The NPU of a target, by the number of the chip itself, or of the oldest chip with the same operations: chips that have the same
/// operations share lowered partitions.
fn device(target: &TargetFacts, number: fn(&et_qnn::Soc) -> u32) -> Result<Device, Refusal> {
    let no = |reason: String| Refusal::new(RefusalKind::Target, reason);
    let name = soc(target).ok_or_else(|| no("the target states no `npu: { soc: ... }`".to_owned()))?;
    let soc = et_qnn::soc(name).ok_or_else(|| no(format!("the NPU of `{name}` is not known")))?;
    Ok(Device { soc: number(soc), shares_weights: shares_weights(target) })
}

/// The chip that partitions are lowered for, or the name of a chip that is not known, which the refusal has.
fn operations(target: &TargetFacts) -> String {
    let name = soc(target).unwrap_or("none");
    et_qnn::soc(name).map_or_else(|| name.to_owned(), |soc| soc.oldest.to_string())
}

/// The most bytes of weights in a context. A tensor of a program file, as a context is, has less than 2 GiB; contexts of the simulator, which
/// have the weights once per method, stay below with seven methods.
fn most_weights(target: &TargetFacts) -> u64 {
    let default = if shares_weights(target) { 1536 << 20 } else { 256 << 20 };
    target.npu_context.unwrap_or(default)
}

/// The operations of the graph of a partition that reads KV caches as a whole, a line each.
///
/// # Errors
/// As lowering.
pub fn program_text(graph: &Graph) -> Result<String, Refusal> {
    Ok(lower::lower(&Links::of(graph), lower::WHOLE)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_lengths_are_facts() {
        let facts =
            |contexts: &[u32]| Qnn.facts(&TargetFacts { contexts: contexts.to_vec(), ..TargetFacts::default() });
        assert_ne!(facts(&[256]), facts(&[256, 512]));
    }

    #[test]
    fn chips_with_the_same_operations_share_all_but_the_context() {
        let target =
            |soc: &str| TargetFacts { npu: Some(NpuFacts::Qualcomm { soc: soc.to_owned() }), ..TargetFacts::default() };
        let [first, second, older] = ["SM8750", "SM8650", "SM8450"].map(target);
        assert_eq!(Qnn.facts(&first), Qnn.facts(&second));
        assert_ne!(Qnn.join_facts(&first), Qnn.join_facts(&second));
        assert_ne!(Qnn.facts(&first), Qnn.facts(&older));
    }
}

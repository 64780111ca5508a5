//! The CPU backend as an etbuild backend.

use std::collections::BTreeSet;

use etbuild_backend::{Backend, Blob, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Graph, Links, Node};

use crate::fuse::{FUSIONS, Fusions};
use crate::lower::{self, compile};
use crate::text::text;
use crate::write::{self, DynamicSizes};
use crate::{Architecture, Problem, sizes};

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

    fn reports_instructions(&self) -> bool {
        true
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
            Some(_) => lower::refusal(links, node),
            None => Some(no_instruction_set()),
        }
    }

    fn multiplies_int8_rows(&self) -> bool {
        true
    }

    fn steps_states(&self) -> bool {
        true
    }

    fn has_dynamic_sizes(&self) -> bool {
        true
    }

    fn lower_dynamic(&self, samples: &[Graph], bounds: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        let architecture = architecture(target).ok_or_else(no_instruction_set)?;
        Ok(sizes::blob(samples, bounds, architecture)?)
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
    Ok(write::blob(&compile(&Links::of(graph), architecture, Fusions::All)?, &DynamicSizes::default()))
}

/// The text of a partition's program after fusion, an instruction per line.
///
/// # Errors
/// As lowering.
pub fn program_text(graph: &Graph) -> Result<String, Problem> {
    Ok(text(&compile(&Links::of(graph), Architecture::Portable, Fusions::All)?))
}

/// The names of all fusions, in order of priority.
pub fn fusion_names() -> impl Iterator<Item = &'static str> {
    FUSIONS.iter().map(|fusion| fusion.name)
}

/// The features of `et-cpu` that the instructions of a blob need.
fn features(bytes: &[u8]) -> BTreeSet<&'static str> {
    let Ok(blob) = et_cpu::Blob::read(bytes) else { return BTreeSet::new() };
    let instructions = blob.instructions().map_while(Result::ok);
    let sizes = blob.has_dynamic_sizes().then_some("dynamic-sizes");
    instructions.filter_map(|instruction| instruction.feature()).chain(sizes).collect()
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;
    use etbuild_ir::{Argument, ConstantData, OperatorName, TensorSpec, ValueKind};

    use super::*;

    /// The features of `operator(x, weights)` on matrices, all of whose weights are a number.
    fn needed(operator: &str, weight: Option<f32>) -> BTreeSet<&'static str> {
        let mut graph = Graph::default();
        let spec = || TensorSpec::contiguous(ScalarType::Float, vec![4, 4]);
        let input = graph.add_value("x", spec(), ValueKind::Input);
        let data = ConstantData::new([weight.unwrap_or_default().to_le_bytes(); 16].concat());
        let kind = ValueKind::Constant { qualified_name: "weights".to_owned(), data };
        let constant = graph.add_value("weights", spec(), kind);
        let output = graph.add_value("y", spec(), ValueKind::Computed);
        graph.inputs.push(input);
        graph.outputs.push(output);
        let others = [Argument::Value(constant), Argument::None].into_iter().filter(|_| weight.is_some());
        let arguments = [Argument::Value(input)].into_iter().chain(others).collect();
        graph.nodes.push(Node { operator: OperatorName::parse(operator).unwrap(), arguments, outputs: vec![output] });
        let features = ["avx2", "neon"].map(str::to_owned).to_vec();
        let target = TargetFacts {
            architecture: std::env::consts::ARCH.to_owned(),
            features,
            hosted: true,
            ..TargetFacts::default()
        };
        BACKEND.device_features(&BACKEND.lower(&graph, &target).unwrap().bytes)
    }

    #[test]
    fn a_feature_is_the_kernels_that_instructions_need() {
        assert_eq!(needed("aten.relu.default", None), ["elementwise"].into());
        assert_eq!(needed("aten.linear.default", Some(0.1)), ["float-products"].into());
        assert_eq!(needed("aten.linear.default", Some(0.5)), ["wide-products"].into());
        assert_eq!(features(b"no blob"), BTreeSet::new());
    }
}

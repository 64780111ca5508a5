//! The backend as an etbuild backend.

use etbuild_backend::{Backend, Blob, Compiler, DeviceReport, EthosU, NpuFacts, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Graph, Links, Node};

use crate::vela::{self, Device};
use crate::{blob, capability, lower, tosa};

/// The backend `ethos-u`.
#[derive(Clone, Copy, Debug)]
pub struct Ethos;

/// The backend, for lists of backends.
pub static BACKEND: Ethos = Ethos;

impl Backend for Ethos {
    fn name(&self) -> &'static str {
        "ethos-u"
    }

    fn delegate_id(&self) -> &'static str {
        et_ethos_u::ID
    }

    fn device_crate(&self) -> &'static str {
        "et-ethos-u"
    }

    fn revision(&self) -> &'static str {
        env!("ETBUILD_ETHOS_U_REVISION")
    }

    fn compiler(&self) -> Option<&'static Compiler> {
        Some(&vela::COMPILER)
    }

    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        let Some(npu) = npu(target) else { return vec![("npu".to_owned(), "none".to_owned())] };
        let EthosU { accelerator, system_config, memory_mode, registers } = npu.clone();
        let registers = format!("{registers:#x}");
        let facts = [
            ("npu", accelerator),
            ("system config", system_config),
            ("memory mode", memory_mode),
            ("registers", registers),
        ];
        facts.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    fn runs_on(&self, target: &TargetFacts) -> bool {
        npu(target).is_some()
    }

    fn refusal(&self, links: &Links<'_>, node: &Node, target: &TargetFacts) -> Option<Refusal> {
        match npu(target) {
            Some(_) => capability::refusal(links, node),
            None => Some(Refusal::new(RefusalKind::Target, "the target states no `npu: { ethos-u: ... }`")),
        }
    }

    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        let npu = npu(target).ok_or_else(lower::cut)?;
        let lowered = lower::lower(graph)?;
        let refused = |reason: String| Refusal::new(RefusalKind::Partition, reason);
        let EthosU { accelerator, system_config, memory_mode, .. } = npu.clone();
        let device = Device { accelerator, system_config, memory_mode };
        let compiled = vela::compile(&tosa::write(&lowered.graph), &device)?;
        let bytes = blob::write(&lowered, &compiled, npu)
            .ok_or_else(|| refused("Vela's inputs and outputs are others than those of the graph".to_owned()))?;
        let device = DeviceReport { npu: Some(compiled.estimate), ..DeviceReport::default() };
        Ok(Blob { bytes, scratch: compiled.scratch, device, ..Blob::default() })
    }
}

/// The NPU of a target.
fn npu(target: &TargetFacts) -> Option<&EthosU> {
    match &target.npu {
        Some(NpuFacts::EthosU(npu)) => Some(npu),
        _ => None,
    }
}

//! The backend as an etbuild backend.

use std::collections::BTreeSet;

use et_cortex_m::{Blob as DeviceBlob, Row};
use etbuild_backend::{Backend, Blob, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Graph, Links, Node};

use crate::{capability, lower};

/// The backend `cortex-m`.
#[derive(Clone, Copy, Debug)]
pub struct CortexM;

/// The backend, for lists of backends.
pub static BACKEND: CortexM = CortexM;

/// The architectures of microcontrollers.
const ARCHITECTURES: [&str; 2] = ["riscv32", "thumb"];

impl Backend for CortexM {
    fn name(&self) -> &'static str {
        "cortex-m"
    }

    fn delegate_id(&self) -> &'static str {
        et_cortex_m::ID
    }

    fn device_crate(&self) -> &'static str {
        "et-cortex-m"
    }

    fn device_features(&self, blob: &[u8]) -> BTreeSet<&'static str> {
        let Ok(blob) = DeviceBlob::read(blob) else { return BTreeSet::new() };
        let row = Row::from_number(blob.header().row).and_then(Row::feature);
        let kernels = blob.instructions().filter_map(|instruction| instruction.ok()?.feature());
        kernels.chain(row).collect()
    }

    fn revision(&self) -> &'static str {
        env!("ETBUILD_CORTEX_M_REVISION")
    }

    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        let runs = if self.runs_on(target) { row(target).feature().unwrap_or("plain") } else { "none" };
        let memory = target.memory.filter(|_| self.runs_on(target));
        let memory = memory.map(|memory| ("memory".to_owned(), format!("{} {}", memory.largest, memory.total)));
        [("row".to_owned(), runs.to_owned())].into_iter().chain(memory).collect()
    }

    fn runs_on(&self, target: &TargetFacts) -> bool {
        !target.hosted && ARCHITECTURES.contains(&target.architecture.as_str())
    }

    fn refusal(&self, links: &Links<'_>, node: &Node, target: &TargetFacts) -> Option<Refusal> {
        if !self.runs_on(target) {
            return Some(Refusal::new(RefusalKind::Target, "the target is not a microcontroller"));
        }
        capability::refusal(links, node)
    }

    fn copies_dequantization(&self) -> bool {
        true
    }

    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        self.lower_over(graph, &[], target)
    }

    fn lower_over(&self, graph: &Graph, ended: &[usize], target: &TargetFacts) -> Result<Blob, Refusal> {
        lower::lower(graph, ended, row(target), target.memory)
    }
}

/// The row of kernels for a target.
fn row(target: &TargetFacts) -> Row {
    let rows = [Row::Mve, Row::Dsp, Row::Thumb2];
    rows.into_iter().find(|row| row.feature().is_some_and(|feature| target.has(feature))).unwrap_or(Row::Plain)
}

//! The simulation as a backend that takes the place of the NPU's.

use etbuild_backend::{Backend, Blob, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Graph, Links, Node};

use crate::{NAME, lower};

use super::delegate::ID;

/// The backend `qnn` without the vendor's compiler: partitions are the same, and this machine computes them by the rules of the simulation.
#[derive(Clone, Copy, Debug)]
pub struct Simulated;

/// The backend, for lists of backends.
pub static SIMULATED: Simulated = Simulated;

impl Backend for Simulated {
    fn name(&self) -> &'static str {
        NAME
    }

    fn delegate_id(&self) -> &'static str {
        ID
    }

    fn device_crate(&self) -> &'static str {
        "et-qnn"
    }

    fn explains_failures(&self) -> bool {
        true
    }

    fn revision(&self) -> &'static str {
        concat!(env!("ETBUILD_QNN_REVISION"), " simulated")
    }

    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        vec![("contexts".to_owned(), format!("{:?}", target.contexts))]
    }

    fn runs_on(&self, _target: &TargetFacts) -> bool {
        false
    }

    fn writes_state(&self) -> bool {
        true
    }

    fn refusal(&self, links: &Links<'_>, node: &Node, _target: &TargetFacts) -> Option<Refusal> {
        lower::refusal(links, node)
    }

    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        let partition = lower::for_contexts(&Links::of(graph), &target.contexts)?;
        let refused = |error: postcard::Error| Refusal::new(RefusalKind::Partition, error.to_string());
        Ok(Blob { bytes: postcard::to_stdvec(&partition).map_err(refused)?, ..Blob::default() })
    }
}

//! The backend `placeholder` on the host: accepts nodes and lowers partitions.

use etbuild_backend::{Backend, Blob, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Graph, Links, Node};

/// The backend.
pub static BACKEND: Placeholder = Placeholder;

/// The backend `placeholder`.
#[derive(Clone, Copy, Debug)]
pub struct Placeholder;

impl Backend for Placeholder {
    fn name(&self) -> &'static str {
        "placeholder"
    }

    fn delegate_id(&self) -> &'static str {
        et_placeholder::ID
    }

    fn device_crate(&self) -> &'static str {
        "et-placeholder"
    }

    fn revision(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        vec![("architecture".to_owned(), target.architecture.clone())]
    }

    fn runs_on(&self, _target: &TargetFacts) -> bool {
        false
    }

    fn refusal(&self, _links: &Links<'_>, node: &Node, _target: &TargetFacts) -> Option<Refusal> {
        Some(Refusal::new(RefusalKind::Operator, format!("there is no `{}` yet", node.operator)))
    }

    fn lower(&self, _graph: &Graph, _target: &TargetFacts) -> Result<Blob, Refusal> {
        Err(Refusal::new(RefusalKind::Partition, "nothing is lowered yet"))
    }
}

//! An engine that takes every node.

use etbuild_backend::{Backend, Blob, Refusal, TargetFacts};
use etbuild_ir::{Graph, Links, Node};

/// Its name, and what it makes of a partition.
pub struct Greedy {
    pub name: &'static str,
    pub lower: fn() -> Blob,
}

impl Backend for Greedy {
    fn name(&self) -> &'static str {
        self.name
    }

    fn delegate_id(&self) -> &'static str {
        self.name
    }

    fn device_crate(&self) -> &'static str {
        "et-greedy"
    }

    fn revision(&self) -> &'static str {
        "1"
    }

    fn facts(&self, _: &TargetFacts) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Never unasked.
    fn runs_on(&self, _: &TargetFacts) -> bool {
        false
    }

    fn refusal(&self, _: &Links<'_>, _: &Node, _: &TargetFacts) -> Option<Refusal> {
        None
    }

    fn lower(&self, _: &Graph, _: &TargetFacts) -> Result<Blob, Refusal> {
        Ok((self.lower)())
    }
}

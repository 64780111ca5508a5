//! The contract.

use std::collections::BTreeSet;
use std::fmt;

use etbuild_ir::{Graph, Links, Node};

use crate::{Blob, Refusal, TargetFacts};

/// An engine that executes parts of programs. Every answer is a function of the arguments alone, so that builds repeat.
pub trait Backend: Send + Sync {
    /// What recipes call it in `partition:`, such as `cpu`: lower-case letters, digits and `_`.
    fn name(&self) -> &'static str;

    /// What program files call it, such as `EtbuildCpu`; the device crate's `ID`.
    fn delegate_id(&self) -> &'static str;

    /// The crate that executes the blobs on a device, such as `et-cpu`. It has `pub const ID: &str` and
    /// `pub fn delegate(workers: &dyn Workers) -> impl Delegate`.
    fn device_crate(&self) -> &'static str;

    /// The features of the device crate that executing a blob of [`Backend::lower`] needs. A binary has those of all blobs
    /// of its program, and no default ones. None where the crate has no parts that could be left out.
    fn device_features(&self, _blob: &[u8]) -> BTreeSet<&'static str> {
        BTreeSet::new()
    }

    /// Another text whenever [`Backend::lower`], [`Backend::refusal`] or [`Backend::device_features`] may answer differently,
    /// such as a digest of the backend's sources: stored partitions of another revision are not used.
    fn revision(&self) -> &'static str;

    /// The facts of the target that lowering reads, by name: targets that agree in them share the stored partitions.
    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)>;

    /// Whether the backend runs anything on the target: `partition: auto` asks only such backends.
    fn runs_on(&self, target: &TargetFacts) -> bool;

    /// Why the node cannot run there; `None` where it can. Constant operands, and what computes the others, can be read from
    /// the graph. What only the neighbourhood of a node decides, such as a fusion, must not make the node's lowering fail.
    fn refusal(&self, links: &Links<'_>, node: &Node, target: &TargetFacts) -> Option<Refusal>;

    /// Lowers a partition: a graph of nodes that were not refused, whose inputs and outputs are those of the call.
    ///
    /// # Errors
    /// A partition that cannot be lowered as a whole. Its nodes stay with the next engine, with this reason.
    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal>;
}

impl fmt::Debug for dyn Backend + '_ {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Backend({})", self.name())
    }
}

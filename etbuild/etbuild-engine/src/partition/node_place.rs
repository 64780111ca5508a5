//! Where every node of a program runs, and why not elsewhere, as an artifact.

use etbuild_partition::{NodeReport, Place};
use serde::{Deserialize, Serialize};

/// Where a node of the lowered program runs, and why not elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePlace {
    /// The method.
    pub method: String,
    /// The operator, such as `aten.relu.default`.
    pub operator: String,
    /// The first output value; empty for a node without outputs.
    pub value: String,
    /// The type and the largest shape of the first output, such as `float32[1, 8]`; empty for a node without outputs.
    pub shape: String,
    /// The positions among the method's nodes of the nodes whose results the node reads.
    pub reads: Vec<usize>,
    /// The module of the model's source, where the archive says so.
    pub module: Option<String>,
    /// The multiply-adds of the node, or the elements of a node without: an estimate for shares.
    pub work: u64,
    /// The first type among operands and results that is not `float32`; `float32` where there is none.
    pub scalar_type: String,
    /// The backend of the node, `portable` for the portable kernels; `None` for a view or a jump, which is no call.
    pub engine: Option<String>,
    /// The partition of the node, counted from 0 in each method.
    pub partition: Option<usize>,
    /// The refusals of the backends that were asked before.
    pub refusals: Vec<EngineRefusal>,
}

/// Why an engine does not run a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRefusal {
    /// The engine.
    pub engine: String,
    /// The topic of the reason: the same word in every version.
    pub kind: String,
    /// The reason.
    pub reason: String,
}

/// The name of the portable kernels where backends are named.
pub const PORTABLE: &str = etbuild_recipe::Partition::PORTABLE;

impl From<&NodeReport> for NodePlace {
    fn from(report: &NodeReport) -> Self {
        let (engine, partition) = match report.place {
            Place::Backend(name, partition) => (Some(name), Some(partition)),
            Place::Portable => (Some(PORTABLE), None),
            Place::Nowhere => (None, None),
        };
        let refusals = report.refusals.iter().map(|(engine, refusal)| EngineRefusal {
            engine: (*engine).to_owned(),
            kind: refusal.kind.name().to_owned(),
            reason: refusal.reason.clone(),
        });
        Self {
            method: report.method.clone(),
            operator: report.operator.clone(),
            value: report.value.clone(),
            shape: report.shape.clone(),
            reads: report.reads.clone(),
            module: report.module.as_deref().map(str::to_owned),
            work: report.work,
            scalar_type: report.scalar_type.name().to_owned(),
            engine: engine.map(str::to_owned),
            partition,
            refusals: refusals.collect(),
        }
    }
}

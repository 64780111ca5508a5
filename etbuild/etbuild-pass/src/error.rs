//! Errors of passes.

use std::fmt;
use std::sync::Arc;

use et_core::{Error, ScalarType};
use etbuild_ir::{Graph, Node, Violation};

/// Errors of a list of passes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassError {
    /// The program has unsupported calls; the list is complete.
    #[error("{}", lines(.0))]
    Refused(Vec<Refusal>),
    /// The output of the passes violates the dialect: a fault of a pass.
    #[error("the program is not valid {dialect}: {}", lines(.violations))]
    Invalid {
        /// The name of the dialect.
        dialect: &'static str,
        /// The violations.
        violations: Vec<Violation>,
    },
}

/// An unsupported call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The method of the call.
    pub method: String,
    /// The operator.
    pub operator: String,
    /// The output of the call.
    pub value: String,
    /// The types of the operands.
    pub scalar_types: Vec<ScalarType>,
    /// The module of the model's source, if known.
    pub origin: Option<Arc<str>>,
    /// The reason.
    pub reason: Reason,
}

/// The reason for a refusal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The arguments contradict the schema or each other.
    #[error("the arguments contradict the schema or each other")]
    Arguments,
    /// The operator is in training mode.
    #[error("the operator is in training mode; call `model.eval()` before export")]
    Training,
    /// An unsupported combination of arguments.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// A decomposition that needs static sizes.
    #[error("the decomposition needs static sizes")]
    Dynamic,
    /// An operator without a kernel and without a decomposition.
    #[error("the operator has no kernel and no decomposition")]
    NoDecomposition,
    /// An operator without a kernel.
    #[error("the operator has no kernel")]
    NoKernel,
    /// A type that the kernel does not support.
    #[error("the kernel does not support {}", .0.name())]
    NoKernelForType(ScalarType),
    /// A kernel that ExecuTorch's runtime lacks.
    #[error("ExecuTorch's runtime has no kernel for the operator, and no decomposition exists")]
    NotUpstream,
    /// An error of a kernel during constant folding.
    #[error("the kernel failed: {0}")]
    Failed(Error),
}

impl Refusal {
    /// A refusal of `node`. The caller fills in the method.
    pub fn new(graph: &Graph, node: &Node, reason: Reason) -> Self {
        let output = node.outputs.first().copied();
        Self {
            method: String::new(),
            operator: node.operator.to_string(),
            value: output.map_or_else(String::new, |id| graph.value(id).name.clone()),
            scalar_types: node.uses().map(|id| graph.spec(id).scalar_type).collect(),
            origin: output.and_then(|id| graph.origins.get(id).cloned()),
            reason,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<_> = self.scalar_types.iter().map(|scalar_type| scalar_type.name()).collect();
        write!(formatter, "`{}`({}), which computes `{}`", self.operator, types.join(", "), self.value)?;
        if let Some(origin) = &self.origin {
            write!(formatter, " in module `{origin}`")?;
        }
        write!(formatter, " of method `{}`: {}", self.method, self.reason)
    }
}

fn lines<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join("\n")
}

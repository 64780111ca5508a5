//! Why a program cannot be brought into a form.

use std::fmt;
use std::sync::Arc;

use et_core::{Error, ScalarType};
use etbuild_ir::{Graph, Node, Violation};

/// Why a list of passes failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassError {
    /// The program calls what cannot be supported; every such call is listed.
    #[error("{}", lines(.0))]
    Refused(Vec<Refusal>),
    /// The passes made something that the dialect does not allow.
    #[error("the program is not valid {dialect}: {}", lines(.violations))]
    Invalid {
        /// The name of the dialect.
        dialect: &'static str,
        /// Everything that is wrong.
        violations: Vec<Violation>,
    },
}

/// A call that cannot be supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The method that the call is in.
    pub method: String,
    /// The operator.
    pub operator: String,
    /// The value that the call computes.
    pub value: String,
    /// The types of the tensors that the call reads.
    pub scalar_types: Vec<ScalarType>,
    /// The module of the model's source that makes the call, where the archive says so.
    pub origin: Option<Arc<str>>,
    /// What stands against it.
    pub reason: Reason,
}

/// What stands against a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Arguments that contradict the operator's schema or each other.
    #[error("its arguments do not fit together")]
    Arguments,
    /// The operator behaves as in training.
    #[error("it is in training mode; call `model.eval()` before export")]
    Training,
    /// A combination of arguments.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// A rewriting that needs to know sizes that are known at run time only.
    #[error("its decomposition needs sizes that are known at run time only")]
    Dynamic,
    /// No rule and no kernel.
    #[error("there is neither a kernel nor a decomposition for it")]
    NoDecomposition,
    /// No kernel.
    #[error("there is no kernel for it")]
    NoKernel,
    /// A kernel, but not for these types.
    #[error("its kernel does not take {}", .0.name())]
    NoKernelForType(ScalarType),
    /// A kernel of ours alone.
    #[error("ExecuTorch's runtime has no kernel for it, and there is no decomposition")]
    NotUpstream,
    /// A kernel that refused to compute.
    #[error("it cannot be computed: {0}")]
    Failed(Error),
}

impl Refusal {
    /// A refusal of `node`; the method is filled in by whoever knows it.
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

//! Refusals: the reason why a backend rejects a node or a partition.

use std::fmt;

/// The reason why a backend rejects a node or a partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// The kind of the reason; stable across versions.
    pub kind: RefusalKind,
    /// A sentence without a full stop, such as `softmax runs along the last dimension only`.
    pub reason: String,
}

/// The kind of a refusal. The names are stable across versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalKind {
    /// The backend lacks the operator.
    Operator,
    /// A type of an operand or result.
    Type,
    /// A rank or size.
    Shape,
    /// A size that is known at run time only.
    DynamicShape,
    /// A dim order.
    Layout,
    /// A non-tensor argument, or a combination of arguments.
    Argument,
    /// An operand that would have to be a constant.
    Constant,
    /// A scheme of quantization.
    Quantization,
    /// A processor, instruction set or memory.
    Target,
    /// The delegate call would cost more than its gain.
    Gain,
    /// The node does not compute tensors: control flow, numbers, state.
    Control,
    /// The nodes run there, but not together.
    Partition,
    /// The machine failed a compiler: a full disk, no memory, a program that does not start. No result of such a stage is kept.
    Machine,
}

impl RefusalKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::Operator,
        Self::Type,
        Self::Shape,
        Self::DynamicShape,
        Self::Layout,
        Self::Argument,
        Self::Constant,
        Self::Quantization,
        Self::Target,
        Self::Gain,
        Self::Control,
        Self::Partition,
        Self::Machine,
    ];

    /// The stable name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Type => "type",
            Self::Shape => "shape",
            Self::DynamicShape => "dynamic-shape",
            Self::Layout => "layout",
            Self::Argument => "argument",
            Self::Constant => "constant",
            Self::Quantization => "quantization",
            Self::Target => "target",
            Self::Gain => "gain",
            Self::Control => "control",
            Self::Partition => "partition",
            Self::Machine => "machine",
        }
    }

    /// The kind of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Refusal {
    /// A refusal with this reason.
    pub fn new(kind: RefusalKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_parses_its_own_text() {
        assert!(RefusalKind::ALL.into_iter().all(|kind| RefusalKind::parse(kind.name()) == Some(kind)));
        assert_eq!(RefusalKind::parse("mood"), None);
    }
}

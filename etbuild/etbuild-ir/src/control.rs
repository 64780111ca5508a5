//! Operators that steer a lowered method instead of computing: labels and jumps.
//!
//! `control.label(n)` marks a place, `control.jump(n)` goes there, `control.jump_if_false(condition, n)` does so unless all
//! of a condition is true, and `control.move(number)` gives a number another name. Only lowered programs contain them;
//! there a value may be computed by several nodes, of which each execution takes the last.

use crate::{Argument, Node, OperatorName, ValueId};

const LABEL: &str = "control.label.default";
const JUMP: &str = "control.jump.default";
const JUMP_IF_FALSE: &str = "control.jump_if_false.default";
const MOVE: &str = "control.move.default";

/// What a node of this namespace does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Marks a place.
    Label(i64),
    /// Goes to a label.
    Jump(i64),
    /// Goes to a label unless the condition is true.
    JumpIfFalse(ValueId, i64),
    /// Gives a number, or the tensor that a slot shows, to another value.
    Move(ValueId, ValueId),
}

impl Control {
    /// What the node does; `None` for nodes that compute.
    pub fn of(node: &Node) -> Option<Self> {
        match (node.operator.as_str(), &node.arguments[..], &node.outputs[..]) {
            (LABEL, [Argument::Int(label)], []) => Some(Self::Label(*label)),
            (JUMP, [Argument::Int(label)], []) => Some(Self::Jump(*label)),
            (JUMP_IF_FALSE, [Argument::Value(condition), Argument::Int(label)], []) => {
                Some(Self::JumpIfFalse(*condition, *label))
            }
            (MOVE, [Argument::Value(from)], [to]) => Some(Self::Move(*from, *to)),
            _ => None,
        }
    }

    /// The node that does this.
    pub fn node(self) -> Node {
        let (name, arguments, outputs) = match self {
            Self::Label(label) => (LABEL, vec![Argument::Int(label)], Vec::new()),
            Self::Jump(label) => (JUMP, vec![Argument::Int(label)], Vec::new()),
            Self::JumpIfFalse(condition, label) => {
                (JUMP_IF_FALSE, vec![Argument::Value(condition), Argument::Int(label)], Vec::new())
            }
            Self::Move(from, to) => (MOVE, vec![Argument::Value(from)], vec![to]),
        };
        Node { operator: OperatorName::known(name), arguments, outputs }
    }

    /// The same with the label that `rename` gives for its own.
    #[must_use]
    pub fn with_label(self, rename: impl FnOnce(i64) -> i64) -> Self {
        match self {
            Self::Label(label) => Self::Label(rename(label)),
            Self::Jump(label) => Self::Jump(rename(label)),
            Self::JumpIfFalse(condition, label) => Self::JumpIfFalse(condition, rename(label)),
            Self::Move(..) => self,
        }
    }

    /// The label that the node goes to.
    pub const fn target(self) -> Option<i64> {
        match self {
            Self::Jump(label) | Self::JumpIfFalse(_, label) => Some(label),
            Self::Label(_) | Self::Move(..) => None,
        }
    }
}

/// Whether the node marks a place.
pub fn is_label(node: &Node) -> bool {
    node.operator.as_str() == LABEL
}

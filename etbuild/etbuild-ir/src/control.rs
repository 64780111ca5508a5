//! Control operators of lowered methods: labels, jumps and moves.
//!
//! `control.label(n)` marks a position, `control.jump(n)` goes to the label, `control.jump_if_false(condition, n)`
//! goes to the label unless all elements of the condition are true, and `control.move(number)` copies a number to
//! another value. Only lowered programs have control operators. In a method with jumps, several nodes may compute a
//! value; the last node that ran counts.

use crate::{Argument, Node, OperatorName, ValueId};

const LABEL: &str = "control.label.default";
const JUMP: &str = "control.jump.default";
const JUMP_IF_FALSE: &str = "control.jump_if_false.default";
const MOVE: &str = "control.move.default";

/// A control operator with arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Marks a position.
    Label(i64),
    /// Goes to a label.
    Jump(i64),
    /// Goes to a label unless the condition is true.
    JumpIfFalse(ValueId, i64),
    /// Copies a number, or the tensor of a slot, to another value.
    Move(ValueId, ValueId),
}

impl Control {
    /// The control operator of a node; `None` for nodes that compute.
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

    /// The node of the control operator.
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

    /// The control operator with a renamed label.
    #[must_use]
    pub fn with_label(self, rename: impl FnOnce(i64) -> i64) -> Self {
        match self {
            Self::Label(label) => Self::Label(rename(label)),
            Self::Jump(label) => Self::Jump(rename(label)),
            Self::JumpIfFalse(condition, label) => Self::JumpIfFalse(condition, rename(label)),
            Self::Move(..) => self,
        }
    }

    /// The label that the node jumps to.
    pub const fn target(self) -> Option<i64> {
        match self {
            Self::Jump(label) | Self::JumpIfFalse(_, label) => Some(label),
            Self::Label(_) | Self::Move(..) => None,
        }
    }
}

/// Whether the node is a label.
pub fn is_label(node: &Node) -> bool {
    node.operator.as_str() == LABEL
}

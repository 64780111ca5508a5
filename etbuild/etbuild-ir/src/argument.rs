//! What a node passes to its operator.

use et_core::ScalarType;

use crate::ValueId;

/// An argument. A node has one for every argument of its operator's schema, defaults included, in schema order.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// Absent.
    None,
    /// A value of the graph.
    Value(ValueId),
    /// Values of the graph, some perhaps absent.
    Values(Vec<Option<ValueId>>),
    /// An integer.
    Int(i64),
    /// Integers.
    Ints(Vec<i64>),
    /// A floating-point number.
    Float(f64),
    /// Floating-point numbers.
    Floats(Vec<f64>),
    /// A boolean.
    Bool(bool),
    /// Booleans.
    Bools(Vec<bool>),
    /// Text.
    Text(String),
    /// A scalar type.
    Type(ScalarType),
    /// A memory format.
    MemoryFormat(MemoryFormat),
    /// A layout or device: strided memory of the CPU, the only one there is.
    Place,
}

/// How PyTorch names common dim orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFormat {
    /// Row-major.
    Contiguous,
    /// Channels innermost, for four dimensions.
    ChannelsLast,
    /// As the operand has it.
    Preserve,
}

impl MemoryFormat {
    /// PyTorch's number for it (`c10::MemoryFormat`).
    pub const fn number(self) -> i64 {
        match self {
            Self::Contiguous => 0,
            Self::Preserve => 1,
            Self::ChannelsLast => 2,
        }
    }
}

impl Argument {
    /// A list of values none of which is absent.
    pub fn values(ids: impl IntoIterator<Item = ValueId>) -> Self {
        Self::Values(ids.into_iter().map(Some).collect())
    }

    /// The values of the graph that this argument refers to.
    pub fn uses(&self) -> impl Iterator<Item = ValueId> + '_ {
        let (one, many) = match self {
            Self::Value(id) => (Some(*id), &[][..]),
            Self::Values(ids) => (None, &ids[..]),
            _ => (None, &[][..]),
        };
        one.into_iter().chain(many.iter().copied().flatten())
    }

    /// Lets every reference to a value be replaced.
    pub fn for_each_use_mut(&mut self, mut visit: impl FnMut(&mut ValueId)) {
        match self {
            Self::Value(id) => visit(id),
            Self::Values(ids) => ids.iter_mut().flatten().for_each(visit),
            _ => {}
        }
    }
}

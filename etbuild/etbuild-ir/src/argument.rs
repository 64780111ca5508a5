//! What a node passes to its operator.

use et_core::ScalarType;

use crate::{Graph, ValueId};

/// An argument. A node has one for every argument of its operator's schema, defaults included, in schema order.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// Absent.
    None,
    /// A value of the graph, a tensor or a number.
    Value(ValueId),
    /// Values of the graph, some perhaps absent.
    Values(Vec<Option<ValueId>>),
    /// An integer.
    Int(i64),
    /// Integers.
    Ints(Vec<i64>),
    /// Integers of which some are computed.
    Sizes(Vec<Size>),
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
    /// A computation that the operator runs, perhaps several times or not at all. It shares no value with the graph
    /// around it.
    Graph(Box<Graph>),
}

/// An integer that is known, or that a node computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Known.
    Fixed(i64),
    /// A number of the graph.
    Value(ValueId),
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
        let (one, many, sizes) = match self {
            Self::Value(id) => (Some(*id), &[][..], &[][..]),
            Self::Values(ids) => (None, &ids[..], &[][..]),
            Self::Sizes(sizes) => (None, &[][..], &sizes[..]),
            _ => (None, &[][..], &[][..]),
        };
        one.into_iter().chain(many.iter().copied().flatten()).chain(sizes.iter().filter_map(|size| size.value()))
    }

    /// Integers, as plain as they can be.
    pub fn sizes(sizes: Vec<Size>) -> Self {
        let fixed: Option<Vec<i64>> = sizes.iter().map(|size| size.fixed()).collect();
        fixed.map_or(Self::Sizes(sizes), Self::Ints)
    }

    /// Lets every reference to a value be replaced.
    pub fn for_each_use_mut(&mut self, mut visit: impl FnMut(&mut ValueId)) {
        match self {
            Self::Value(id) => visit(id),
            Self::Values(ids) => ids.iter_mut().flatten().for_each(visit),
            Self::Sizes(sizes) => sizes.iter_mut().for_each(|size| {
                if let Size::Value(id) = size {
                    visit(id);
                }
            }),
            _ => {}
        }
    }
}

impl Size {
    /// The integer, if it is known.
    pub const fn fixed(self) -> Option<i64> {
        match self {
            Self::Fixed(value) => Some(value),
            Self::Value(_) => None,
        }
    }

    /// The number that holds the integer, if it is computed.
    pub const fn value(self) -> Option<ValueId> {
        match self {
            Self::Fixed(_) => None,
            Self::Value(id) => Some(id),
        }
    }
}

//! Arguments of nodes.

use et_core::ScalarType;

use super::Graph;
use crate::ValueId;

/// An argument. A node has an argument for every parameter of the operator's schema, defaults included, in schema
/// order.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// Absent.
    None,
    /// A value of the graph, a tensor or a number.
    Value(ValueId),
    /// Values of the graph; items may be absent.
    Values(Vec<Option<ValueId>>),
    /// An integer.
    Int(i64),
    /// Integers.
    Ints(Vec<i64>),
    /// Integers, at least partly computed.
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
    /// A layout or device. Tensors are strided memory of the CPU, so the argument carries no information.
    Place,
    /// A nested graph that the operator runs any number of times. Nested and outer graph share no value.
    Graph(Box<Graph>),
}

/// A constant or computed integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A constant.
    Fixed(i64),
    /// A number of the graph.
    Value(ValueId),
}

/// PyTorch's memory formats: names of common dim orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFormat {
    /// Row-major (NCHW).
    Contiguous,
    /// Channels last (NHWC), for four dimensions.
    ChannelsLast,
    /// The memory format of the operand.
    Preserve,
}

impl MemoryFormat {
    /// The number of the format in PyTorch (`c10::MemoryFormat`).
    pub const fn number(self) -> i64 {
        match self {
            Self::Contiguous => 0,
            Self::Preserve => 1,
            Self::ChannelsLast => 2,
        }
    }
}

impl Argument {
    /// A list of present values.
    pub fn values(ids: impl IntoIterator<Item = ValueId>) -> Self {
        Self::Values(ids.into_iter().map(Some).collect())
    }

    /// The values of the graph that the argument reads.
    pub fn uses(&self) -> impl Iterator<Item = ValueId> + '_ {
        let (one, many, sizes) = match self {
            Self::Value(id) => (Some(*id), &[][..], &[][..]),
            Self::Values(ids) => (None, &ids[..], &[][..]),
            Self::Sizes(sizes) => (None, &[][..], &sizes[..]),
            _ => (None, &[][..], &[][..]),
        };
        one.into_iter().chain(many.iter().copied().flatten()).chain(sizes.iter().filter_map(|size| size.value()))
    }

    /// A list of sizes: [`Argument::Ints`] if all sizes are constants.
    pub fn sizes(sizes: Vec<Size>) -> Self {
        let fixed: Option<Vec<i64>> = sizes.iter().map(|size| size.fixed()).collect();
        fixed.map_or(Self::Sizes(sizes), Self::Ints)
    }

    /// Visits every reference to a value, to replace the reference.
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
    /// The integer, if constant.
    pub const fn fixed(self) -> Option<i64> {
        match self {
            Self::Fixed(value) => Some(value),
            Self::Value(_) => None,
        }
    }

    /// The number of the graph, if computed.
    pub const fn value(self) -> Option<ValueId> {
        match self {
            Self::Fixed(_) => None,
            Self::Value(id) => Some(id),
        }
    }
}

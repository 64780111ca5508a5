//! The call of a node, with arguments by position and type.

use etbuild_ir::{Argument, Graph, Node, OperatorName, TensorSpec, ValueId};

use crate::Reason;

/// A call of an operator.
#[derive(Clone)]
pub struct Call {
    /// The operator.
    pub operator: OperatorName,
    /// The arguments in schema order.
    pub arguments: Vec<Argument>,
    /// Types and shapes of the outputs.
    pub outputs: Vec<TensorSpec>,
}

impl Call {
    /// The call of a node.
    pub fn new(graph: &Graph, node: &Node) -> Self {
        let outputs = node.outputs.iter().map(|id| graph.spec(*id).clone()).collect();
        Self { operator: node.operator.clone(), arguments: node.arguments.clone(), outputs }
    }

    /// The argument at `index`.
    pub fn argument(&self, index: usize) -> Result<&Argument, Reason> {
        self.arguments.get(index).ok_or(Reason::Arguments)
    }

    /// The values that the call reads.
    pub fn uses(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.arguments.iter().flat_map(Argument::uses)
    }

    /// Type and shape of the first output.
    pub fn output(&self) -> Result<TensorSpec, Reason> {
        self.outputs.first().cloned().ok_or(Reason::Arguments)
    }

    /// A tensor.
    pub fn value(&self, index: usize) -> Result<ValueId, Reason> {
        self.optional_value(index)?.ok_or(Reason::Arguments)
    }

    /// A tensor that may be absent.
    pub fn optional_value(&self, index: usize) -> Result<Option<ValueId>, Reason> {
        match self.argument(index)? {
            Argument::Value(id) => Ok(Some(*id)),
            Argument::None => Ok(None),
            _ => Err(Reason::Arguments),
        }
    }

    /// Tensors, all present.
    pub fn values(&self, index: usize) -> Result<Vec<ValueId>, Reason> {
        match self.argument(index)? {
            Argument::Values(ids) => ids.iter().copied().collect::<Option<_>>().ok_or(Reason::Arguments),
            _ => Err(Reason::Arguments),
        }
    }

    /// An integer.
    pub fn int(&self, index: usize) -> Result<i64, Reason> {
        match self.argument(index)? {
            Argument::Int(value) => Ok(*value),
            _ => Err(Reason::Arguments),
        }
    }

    /// Integers.
    pub fn ints(&self, index: usize) -> Result<&[i64], Reason> {
        match self.argument(index)? {
            Argument::Ints(values) => Ok(values),
            _ => Err(Reason::Arguments),
        }
    }

    /// An integer per dimension; a single integer stands for every dimension.
    pub fn ints_per_dim(&self, index: usize, count: usize) -> Result<Argument, Reason> {
        match self.ints(index)? {
            [one] => Ok(Argument::Ints(vec![*one; count])),
            all if all.len() == count => Ok(Argument::Ints(all.to_vec())),
            _ => Err(Reason::Arguments),
        }
    }

    /// Any number.
    pub fn number(&self, index: usize) -> Result<f64, Reason> {
        match self.argument(index)? {
            Argument::Float(value) => Ok(*value),
            Argument::Int(value) => Ok(*value as f64),
            Argument::Bool(value) => Ok(f64::from(u8::from(*value))),
            _ => Err(Reason::Arguments),
        }
    }

    /// A boolean.
    pub fn flag(&self, index: usize) -> Result<bool, Reason> {
        match self.argument(index)? {
            Argument::Bool(value) => Ok(*value),
            _ => Err(Reason::Arguments),
        }
    }

    /// Dimensions of a tensor of `rank`, counted from the front; all dimensions by default.
    pub fn dims(&self, index: usize, rank: usize) -> Result<Vec<usize>, Reason> {
        match self.argument(index)? {
            Argument::None => Ok((0..rank).collect()),
            Argument::Int(_) if rank == 0 => Ok(Vec::new()),
            Argument::Int(dim) => Ok(vec![normal_dim(*dim, rank)?]),
            Argument::Ints(dims) if dims.is_empty() => Ok((0..rank).collect()),
            Argument::Ints(_) if rank == 0 => Ok(Vec::new()),
            Argument::Ints(dims) => dims.iter().map(|dim| normal_dim(*dim, rank)).collect(),
            _ => Err(Reason::Arguments),
        }
    }

    /// A dimension of a tensor of `rank`, counted from the front.
    pub fn dim(&self, index: usize, rank: usize) -> Result<usize, Reason> {
        normal_dim(self.int(index)?, rank)
    }
}

/// A dimension counted from the front. Negative dimensions count from the back.
pub fn normal_dim(dim: i64, rank: usize) -> Result<usize, Reason> {
    let from_front = if dim < 0 { dim.checked_add(rank as i64) } else { Some(dim) };
    let dim = from_front.and_then(|dim| usize::try_from(dim).ok());
    dim.filter(|dim| *dim < rank).ok_or(Reason::Arguments)
}

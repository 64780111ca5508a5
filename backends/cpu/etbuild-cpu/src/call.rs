//! A node's arguments by position and type.

use etbuild_ir::{Argument, Graph, Links, Node, ValueId};

use crate::Problem;

/// A node with arguments by position.
#[derive(Clone, Copy)]
pub struct Call<'g> {
    /// The graph of the node.
    pub graph: &'g Graph,
    /// The producer and the consumers of each value.
    pub links: &'g Links<'g>,
    /// The node.
    pub node: &'g Node,
}

impl<'g> Call<'g> {
    /// A node of a graph.
    pub const fn new(links: &'g Links<'g>, node: &'g Node) -> Self {
        Self { graph: links.graph, links, node }
    }

    fn argument(&self, index: usize) -> Result<&'g Argument, Problem> {
        self.node.arguments.get(index).ok_or(Problem::Arguments)
    }

    /// The first output.
    pub fn output(&self) -> Result<ValueId, Problem> {
        self.node.outputs.first().copied().ok_or(Problem::Arguments)
    }

    /// The shape of the first output.
    pub fn output_sizes(&self) -> Result<Vec<usize>, Problem> {
        Ok(self.sizes(self.output()?))
    }

    /// The shape of a value.
    pub fn sizes(&self, id: ValueId) -> Vec<usize> {
        self.graph.spec(id).sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect()
    }

    /// A tensor argument.
    pub fn value(&self, index: usize) -> Result<ValueId, Problem> {
        self.optional_value(index)?.ok_or(Problem::Arguments)
    }

    /// An optional tensor argument.
    pub fn optional_value(&self, index: usize) -> Result<Option<ValueId>, Problem> {
        match self.argument(index)? {
            Argument::Value(id) => Ok(Some(*id)),
            Argument::None => Ok(None),
            _ => Err(Problem::Arguments),
        }
    }

    /// A tensor list argument.
    pub fn values(&self, index: usize) -> Result<Vec<ValueId>, Problem> {
        match self.argument(index)? {
            Argument::Values(ids) => Ok(ids.iter().copied().flatten().collect()),
            _ => Err(Problem::Arguments),
        }
    }

    /// An integer argument; `None` if absent.
    pub fn int(&self, index: usize) -> Result<Option<i64>, Problem> {
        match self.argument(index)? {
            Argument::Int(number) => Ok(Some(*number)),
            Argument::None => Ok(None),
            _ => Err(Problem::Arguments),
        }
    }

    /// An integer list argument; empty if absent.
    pub fn ints(&self, index: usize) -> Result<&'g [i64], Problem> {
        match self.argument(index)? {
            Argument::Ints(numbers) => Ok(numbers),
            Argument::None => Ok(&[]),
            _ => Err(Problem::Arguments),
        }
    }

    /// A number argument; `None` if absent.
    pub fn number(&self, index: usize) -> Result<Option<f64>, Problem> {
        match self.argument(index)? {
            Argument::Int(number) => Ok(Some(*number as f64)),
            Argument::Float(number) => Ok(Some(*number)),
            Argument::Bool(flag) => Ok(Some(f64::from(u8::from(*flag)))),
            Argument::None => Ok(None),
            _ => Err(Problem::Arguments),
        }
    }

    /// A boolean argument; false if absent.
    pub fn flag(&self, index: usize) -> Result<bool, Problem> {
        match self.argument(index)? {
            Argument::Bool(flag) => Ok(*flag),
            Argument::Int(number) => Ok(*number != 0),
            Argument::None => Ok(false),
            _ => Err(Problem::Arguments),
        }
    }

    /// A string argument; empty if absent.
    pub fn text(&self, index: usize) -> Result<&'g str, Problem> {
        match self.argument(index)? {
            Argument::Text(text) => Ok(text),
            Argument::None => Ok(""),
            _ => Err(Problem::Arguments),
        }
    }

    /// A dimension argument; negative dimensions count from the end.
    pub fn dim(&self, index: usize, rank: usize) -> Result<usize, Problem> {
        dim(self.int(index)?.ok_or(Problem::Arguments)?, rank)
    }
}

/// A dimension of a tensor of this rank; negative dimensions count from the end.
pub fn dim(number: i64, rank: usize) -> Result<usize, Problem> {
    let from_front = if number < 0 { number + rank as i64 } else { number };
    usize::try_from(from_front).ok().filter(|dim| *dim < rank.max(1)).ok_or(Problem::Arguments)
}

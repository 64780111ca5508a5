//! A node's arguments by position and type.

use std::fmt;

use etbuild_ir::{Argument, Graph, Links, Node, ValueId};

use crate::{Refusal, RefusalKind};

/// A node whose arguments are not those of the operator's schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentError;

impl fmt::Display for ArgumentError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a call does not have the arguments of its schema")
    }
}

impl From<ArgumentError> for Refusal {
    fn from(error: ArgumentError) -> Self {
        Self::new(RefusalKind::Argument, error.to_string())
    }
}

type Result<T> = std::result::Result<T, ArgumentError>;

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

/// The sizes of a convolution or pool besides those of the tensors, each vertical and horizontal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The kernel.
    pub kernel: [u32; 2],
    /// The strides.
    pub stride: [u32; 2],
    /// The padding at the top and at the left.
    pub padding: [u32; 2],
    /// The dilations.
    pub dilation: [u32; 2],
}

impl<'g> Call<'g> {
    /// A node of a graph.
    pub const fn new(links: &'g Links<'g>, node: &'g Node) -> Self {
        Self { graph: links.graph, links, node }
    }

    /// An argument of a kind; `None` if absent.
    fn get<T>(&self, index: usize, kind: impl Fn(&'g Argument) -> Option<T>) -> Result<Option<T>> {
        match self.node.arguments.get(index).ok_or(ArgumentError)? {
            Argument::None => Ok(None),
            argument => kind(argument).map(Some).ok_or(ArgumentError),
        }
    }

    /// The first output.
    pub fn output(&self) -> Result<ValueId> {
        self.node.outputs.first().copied().ok_or(ArgumentError)
    }

    /// The shape of the first output.
    pub fn output_sizes(&self) -> Result<Vec<usize>> {
        Ok(self.sizes(self.output()?))
    }

    /// The shape of a value.
    pub fn sizes(&self, id: ValueId) -> Vec<usize> {
        self.graph.spec(id).sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect()
    }

    /// A tensor argument.
    pub fn value(&self, index: usize) -> Result<ValueId> {
        self.optional_value(index)?.ok_or(ArgumentError)
    }

    /// An optional tensor argument.
    pub fn optional_value(&self, index: usize) -> Result<Option<ValueId>> {
        self.get(index, |argument| if let Argument::Value(id) = argument { Some(*id) } else { None })
    }

    /// A tensor list argument.
    pub fn values(&self, index: usize) -> Result<Vec<ValueId>> {
        let ids = self.get(index, |argument| if let Argument::Values(ids) = argument { Some(ids) } else { None })?;
        Ok(ids.ok_or(ArgumentError)?.iter().copied().flatten().collect())
    }

    /// An integer argument; `None` if absent.
    pub fn int(&self, index: usize) -> Result<Option<i64>> {
        self.get(index, |argument| if let Argument::Int(number) = argument { Some(*number) } else { None })
    }

    /// An integer list argument; empty if absent.
    pub fn ints(&self, index: usize) -> Result<&'g [i64]> {
        let ints = self.get(index, |argument| if let Argument::Ints(ints) = argument { Some(&ints[..]) } else { None });
        ints.map(Option::unwrap_or_default)
    }

    /// A number argument; `None` if absent.
    pub fn number(&self, index: usize) -> Result<Option<f64>> {
        self.get(index, |argument| match argument {
            Argument::Int(number) => Some(*number as f64),
            Argument::Float(number) => Some(*number),
            Argument::Bool(flag) => Some(f64::from(u8::from(*flag))),
            _ => None,
        })
    }

    /// A boolean argument; false if absent.
    pub fn flag(&self, index: usize) -> Result<bool> {
        let flag = self.get(index, |argument| match argument {
            Argument::Bool(flag) => Some(*flag),
            Argument::Int(number) => Some(*number != 0),
            _ => None,
        });
        flag.map(Option::unwrap_or_default)
    }

    /// A string argument; empty if absent.
    pub fn text(&self, index: usize) -> Result<&'g str> {
        let text = self.get(index, |argument| if let Argument::Text(text) = argument { Some(&text[..]) } else { None });
        text.map(Option::unwrap_or_default)
    }

    /// A dimension argument; negative dimensions count from the end.
    pub fn dim(&self, index: usize, rank: usize) -> Result<usize> {
        dim(self.int(index)?.ok_or(ArgumentError)?, rank)
    }

    /// The geometry of a convolution.
    pub fn convolution(&self) -> Result<Geometry> {
        let [.., height, width] = image_sizes(&self.sizes(self.value(1)?))?;
        let spatial = self.output_sizes()?.len() - 2;
        let pair = |index, absent| pair(self.ints(index)?, spatial, absent);
        let (stride, padding, dilation) = (pair(3, 1)?, pair(4, 0)?, pair(5, 1)?);
        Ok(Geometry { kernel: [height as u32, width as u32], stride, padding, dilation })
    }

    /// The geometry of a pool: max pooling has a dilation, average pooling has none.
    pub fn pool(&self) -> Result<Geometry> {
        let kernel = pair(self.ints(1)?, 2, 1)?;
        let stride = self.ints(2)?;
        let stride = if stride.is_empty() { kernel } else { pair(stride, 2, 1)? };
        let dilation = if self.node.operator.name() == "avg_pool2d" { [1, 1] } else { pair(self.ints(4)?, 2, 1)? };
        Ok(Geometry { kernel, stride, padding: pair(self.ints(3)?, 2, 0)?, dilation })
    }
}

/// A dimension of a tensor of this rank; negative dimensions count from the end.
pub fn dim(number: i64, rank: usize) -> Result<usize> {
    let from_front = if number < 0 { number + rank as i64 } else { number };
    usize::try_from(from_front).ok().filter(|dim| *dim < rank.max(1)).ok_or(ArgumentError)
}

/// The sizes of a tensor of rank 3 or 4 as images: `[batch, channels, height, width]`, where one-dimensional images have
/// height 1.
pub fn image_sizes(sizes: &[usize]) -> Result<[usize; 4]> {
    match *sizes {
        [batch, channels, width] => Ok([batch, channels, 1, width]),
        [batch, channels, height, width] => Ok([batch, channels, height, width]),
        _ => Err(ArgumentError),
    }
}

/// Vertical and horizontal numbers; one-dimensional convolutions have the horizontal number only.
fn pair(numbers: &[i64], spatial: usize, absent: u32) -> Result<[u32; 2]> {
    let number = |number: i64| u32::try_from(number).map_err(|_| ArgumentError);
    match (numbers, spatial) {
        ([], _) => Ok([absent; 2]),
        ([one], 1) => Ok([absent, number(*one)?]),
        ([one], _) => Ok([number(*one)?; 2]),
        ([rows, columns], _) => Ok([number(*rows)?, number(*columns)?]),
        _ => Err(ArgumentError),
    }
}

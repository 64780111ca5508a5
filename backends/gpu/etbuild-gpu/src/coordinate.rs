//! Coordinates in kernels under construction: known, a channel of a slice, or computed.

use crate::expr::IndexOp;
use crate::tensor::{TEXEL, Texels};

/// A number in a kernel under construction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A known index.
    Known(usize),
    /// `4 * slice + lane`: coordinate arithmetic keeps track of the lane, so that a texel is read once for its four channels.
    Channel {
        /// WGSL of the slice.
        slice: String,
        /// The position in the slice.
        lane: usize,
    },
    /// WGSL.
    Text(String),
}

impl Value {
    /// WGSL of type `i32`, or of the number.
    pub fn text(&self) -> String {
        match self {
            Self::Known(index) => format!("{index}i"),
            Self::Channel { slice, lane: 0 } => format!("({slice} * 4i)"),
            Self::Channel { slice, lane } => format!("({slice} * 4i + {lane}i)"),
            Self::Text(text) => text.clone(),
        }
    }

    /// The slice and the lane of a channel, both WGSL.
    pub fn slice_and_lane(&self) -> (Self, String) {
        match self {
            Self::Known(index) => (Self::Known(index / TEXEL), format!("[{}]", index % TEXEL)),
            Self::Channel { slice, lane } => (Self::Text(slice.clone()), format!("[{lane}]")),
            Self::Text(text) => (Self::Text(format!("({text} >> 2u)")), format!("[{text} & 3i]")),
        }
    }

    /// Arithmetic on coordinates.
    pub fn arithmetic(op: IndexOp, left: &Self, right: &Self) -> Self {
        match op {
            IndexOp::Add => left.plus(right),
            IndexOp::Mul => left.times(right),
            IndexOp::Div => left.over(right),
            IndexOp::Rem => left.remainder(right),
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Known(left), Self::Known(right)) => Self::Known(left + right),
            (Self::Known(0), only) | (only, Self::Known(0)) => only.clone(),
            (Self::Channel { slice, lane }, Self::Known(index))
            | (Self::Known(index), Self::Channel { slice, lane }) => {
                Self::channel(&Self::Text(slice.clone()), lane + index)
            }
            (Self::Channel { slice, lane }, Self::Channel { slice: other, lane: added }) => {
                Self::channel(&Self::Text(format!("({slice} + {other})")), lane + added)
            }
            _ => Self::Text(format!("({} + {})", self.text(), other.text())),
        }
    }

    /// The product.
    pub fn times(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Known(left), Self::Known(right)) => Self::Known(left * right),
            (Self::Known(0), _) | (_, Self::Known(0)) => Self::Known(0),
            (Self::Known(1), only) | (only, Self::Known(1)) => only.clone(),
            (Self::Channel { slice, lane }, Self::Known(index))
            | (Self::Known(index), Self::Channel { slice, lane }) => {
                Self::channel(&Self::Text(format!("({slice} * {index}i)")), lane * index)
            }
            (Self::Text(text), Self::Known(index)) | (Self::Known(index), Self::Text(text))
                if index.is_multiple_of(TEXEL) =>
            {
                let slice = if *index == TEXEL { text.clone() } else { format!("({text} * {}i)", index / TEXEL) };
                Self::channel(&Self::Text(slice), 0)
            }
            _ => Self::Text(format!("({} * {})", self.text(), other.text())),
        }
    }

    fn over(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Known(left), Self::Known(right)) => Self::Known(left / right.max(&1)),
            (only, Self::Known(1)) => only.clone(),
            (Self::Channel { slice, .. }, Self::Known(index)) if index.is_multiple_of(TEXEL) => {
                Self::Text(slice.clone()).over(&Self::Known(index / TEXEL))
            }
            _ => Self::Text(format!("({} / {})", self.text(), other.text())),
        }
    }

    fn remainder(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Known(left), Self::Known(right)) => Self::Known(left % right.max(&1)),
            (_, Self::Known(1)) => Self::Known(0),
            (Self::Channel { slice, lane }, Self::Known(index)) if index.is_multiple_of(TEXEL) => {
                Self::channel(&Self::Text(slice.clone()).remainder(&Self::Known(index / TEXEL)), *lane)
            }
            _ => Self::Text(format!("({} % {})", self.text(), other.text())),
        }
    }

    /// `4 * slice + offset`.
    pub fn channel(slice: &Self, offset: usize) -> Self {
        match slice.plus(&Self::Known(offset / TEXEL)) {
            Self::Known(slice) => Self::Known(TEXEL * slice + offset % TEXEL),
            slice => Self::Channel { slice: slice.text(), lane: offset % TEXEL },
        }
    }
}

/// The index of an element in a buffer.
pub fn element_index(coordinates: &[Value], strides: &[usize]) -> Value {
    let add = |sum: Value, (index, stride): (&Value, &usize)| sum.plus(&index.times(&Value::Known(*stride)));
    coordinates.iter().zip(strides).fold(Value::Known(0), add)
}

impl Texels {
    /// X, y and layer of the texel at coordinates, of which the channel is a slice.
    pub fn place(&self, coordinates: &[Value]) -> [Value; 3] {
        self.strides.each_ref().map(|strides| element_index(coordinates, strides))
    }

    /// The number of a texel in a buffer.
    pub fn index(&self, [x, y, layer]: &[Value; 3]) -> Value {
        let [width, height, _] = self.extent.map(Value::Known);
        layer.times(&height).plus(y).times(&width).plus(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_of_whole_slices_keeps_the_lane() {
        let channel = Value::Channel { slice: "s".to_owned(), lane: 2 };
        let head = Value::Text("h".to_owned());
        let index = head.times(&Value::Known(64)).plus(&channel);
        assert_eq!(index, Value::Channel { slice: "((h * 16i) + s)".to_owned(), lane: 2 });
        assert_eq!(Value::arithmetic(IndexOp::Rem, &index, &Value::Known(64)).slice_and_lane().1, "[2]");
        assert_eq!(channel.plus(&Value::Known(3)).slice_and_lane().1, "[1]");
    }
}

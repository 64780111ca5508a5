//! A tensor's type and shape.

use std::fmt;

use et_core::{Error, Result};
use et_format::{DataLayout, ShapeDynamism, Tensor};
use serde::Serialize;

/// The type, shape and dim order of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TensorType {
    /// The type of the elements; `None` for a type that this runtime does not know.
    pub scalar_type: Option<&'static str>,
    /// The sizes; upper bounds where the shape is bounded.
    pub sizes: Vec<i32>,
    /// The dimensions, outermost in memory first.
    pub dim_order: Vec<u8>,
    /// `fixed`, `bounded` or `unbounded`.
    pub shape: &'static str,
    /// Bytes, at most; 0 where the type is not known.
    pub size: u64,
}

impl TensorType {
    /// Reads a tensor of a value table.
    pub fn of(tensor: Tensor<'_>) -> Result<Self> {
        let shape = match tensor.shape_dynamism()? {
            ShapeDynamism::Static => "fixed",
            ShapeDynamism::Bounded => "bounded",
            ShapeDynamism::Unbounded => "unbounded",
        };
        Self::new(tensor.scalar_type(), tensor.sizes()?.iter().collect(), tensor.dim_order()?, shape)
    }

    /// Reads the layout of a tensor of a data file.
    pub fn of_layout(layout: DataLayout<'_>) -> Result<Self> {
        Self::new(layout.scalar_type(), layout.sizes()?.iter().collect(), layout.dim_order()?, "fixed")
    }

    fn new(
        scalar_type: Result<et_core::ScalarType>,
        sizes: Vec<i32>,
        dim_order: &[u8],
        shape: &'static str,
    ) -> Result<Self> {
        let known = match scalar_type {
            Err(Error::NotSupported) => None,
            scalar_type => Some(scalar_type?),
        };
        let numel = sizes.iter().fold(1_u64, |numel, size| numel.saturating_mul(u64::try_from(*size).unwrap_or(0)));
        let size = known.map_or(0, |known| numel.saturating_mul(known.size() as u64));
        Ok(Self { scalar_type: known.map(|known| known.name()), sizes, dim_order: dim_order.to_vec(), shape, size })
    }
}

/// `float32[1, 10]`, `float32[1, 3, 8, 8] in order [0, 2, 3, 1]`, `int64[1, 128] at most`.
impl fmt::Display for TensorType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{:?}", self.scalar_type.unwrap_or("unknown"), self.sizes)?;
        if !self.dim_order.is_sorted() {
            write!(formatter, " in order {:?}", self.dim_order)?;
        }
        match self.shape {
            "fixed" => Ok(()),
            "bounded" => formatter.write_str(" at most"),
            other => write!(formatter, " {other}"),
        }
    }
}

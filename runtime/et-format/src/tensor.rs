//! A tensor's type, shape and place.

use et_core::{Error, Indices, Result, ScalarType};

use crate::Table;
use crate::view::views;

views! {
    /// A tensor in the value table.
    Tensor;
    /// The fields of external, mutable or device tensors.
    ExtraTensorInfo;
}

/// Whether a shape can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeDynamism {
    /// The shape is static.
    Static,
    /// Within upper bounds, which are the sizes.
    Bounded,
    /// Without bounds.
    Unbounded,
}

/// Where a tensor's data comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorLocation {
    /// This file.
    Segment,
    /// Another file, by name.
    External,
}

/// A place in an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The arena, counted from 1.
    pub memory_id: u32,
    /// Bytes from the arena's start.
    pub offset: u64,
}

impl<'a> Tensor<'a> {
    /// The element type; an error for a type that this runtime does not support.
    pub fn scalar_type(self) -> Result<ScalarType> {
        ScalarType::from_number(self.0.u8(0)?).ok_or(Error::NotSupported)
    }

    /// Elements before the first element: 0 in every executable file.
    pub fn storage_offset(self) -> Result<i32> {
        self.0.i32(1)
    }

    /// The size of each dimension.
    pub fn sizes(self) -> Result<Indices<'a>> {
        self.0.vector(2, 4).map(Indices::new)
    }

    /// The dimensions in memory order.
    pub fn dim_order(self) -> Result<&'a [u8]> {
        self.0.vector(3, 1)
    }

    /// Whether gradients flow here.
    pub fn requires_grad(self) -> Result<bool> {
        self.0.u8(4).map(|byte| byte != 0)
    }

    /// The index of the constant or initial value; 0 for a tensor without data in the file.
    pub fn data_buffer_index(self) -> Result<usize> {
        self.0.u32(5).map(|index| index as usize)
    }

    /// Where in an arena the data lies.
    pub fn allocation(self) -> Result<Option<Allocation>> {
        self.0.table(6)?.map(Allocation::read).transpose()
    }

    /// The layout's number; 0 is dense.
    pub fn layout(self) -> Result<u8> {
        self.0.u8(7)
    }

    /// Whether the shape can change.
    pub fn shape_dynamism(self) -> Result<ShapeDynamism> {
        match self.0.u8(8)? {
            0 => Ok(ShapeDynamism::Static),
            1 => Ok(ShapeDynamism::Bounded),
            2 => Ok(ShapeDynamism::Unbounded),
            _ => Err(Error::InvalidProgram),
        }
    }

    /// The fields of external, mutable or device tensors.
    pub fn extra(self) -> Result<Option<ExtraTensorInfo<'a>>> {
        self.0.table(9).map(|table| table.map(ExtraTensorInfo))
    }
}

impl Allocation {
    fn read(table: Table<'_>) -> Result<Self> {
        let offset = u64::from(table.u32(1)?) | u64::from(table.u32(2)?) << 32;
        Ok(Self { memory_id: table.u32(0)?, offset })
    }
}

impl<'a> ExtraTensorInfo<'a> {
    /// Which list of initial values the data is in.
    pub fn mutable_data_segment(self) -> Result<u64> {
        self.0.u64(0)
    }

    /// The name in the model.
    pub fn fully_qualified_name(self) -> Result<&'a str> {
        self.0.string(1)
    }

    /// Where the data comes from.
    pub fn location(self) -> Result<TensorLocation> {
        match self.0.u8(2)? {
            0 => Ok(TensorLocation::Segment),
            1 => Ok(TensorLocation::External),
            _ => Err(Error::InvalidProgram),
        }
    }

    /// The kind of device that holds the data; 0 is the processor.
    pub fn device_type(self) -> Result<u8> {
        self.0.u8(3)
    }

    /// The index among devices of the same kind.
    pub fn device_index(self) -> Result<u8> {
        self.0.u8(4)
    }
}

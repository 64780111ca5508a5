//! A data file (`.ptd`): tensors and blobs by name, for programs with external weights.
//!
//! The schema is `extension/flat_tensor/serialize/flat_tensor.fbs` of ExecuTorch 1.5, file identifier `FT01`.

use et_core::{Error, Indices, Result, ScalarType, TensorLayout};

use crate::view::views;
use crate::{DataSegment, List, Table, View};

/// Bytes 4 to 7 of every data file.
pub const DATA_IDENTIFIER: &[u8; 4] = b"FT01";

views! {
    /// A named blob; a tensor if the entry has a layout.
    DataEntry;
    /// The layout of a tensor: type, sizes and dim order.
    DataLayout;
}

/// A data file in memory, with validated header, identifier and segment ranges.
#[derive(Clone, Copy, Debug)]
pub struct DataFile<'a> {
    root: Table<'a>,
    /// The file from the first segment on.
    segments: &'a [u8],
}

/// The header, which stands in bytes 8 to 47 (`extension/flat_tensor/serialize/flat_tensor_header.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataHeader {
    /// Where the flatbuffer goes on behind the header.
    pub(crate) flatbuffer_offset: u64,
    /// Bytes of the flatbuffer, this header excluded.
    pub(crate) flatbuffer_size: u64,
    /// Where the first segment starts in the file.
    pub(crate) segment_base_offset: u64,
    /// Bytes from there to the end of the last segment.
    pub(crate) segment_data_size: u64,
}

impl DataHeader {
    /// The magic bytes.
    pub(crate) const MAGIC: &[u8; 4] = b"FH01";
    /// The length of the header in bytes.
    pub(crate) const LENGTH: u32 = 40;

    fn read(file: &[u8]) -> Result<Self> {
        let header = file.get(8..).unwrap_or_default();
        let length = header.get(4..).and_then(|rest| rest.first_chunk().copied()).map(u32::from_le_bytes);
        if !header.starts_with(Self::MAGIC) || length.is_none_or(|length| length < Self::LENGTH) {
            return Err(Error::InvalidExternalData);
        }
        Ok(Self {
            flatbuffer_offset: number(header, 8)?,
            flatbuffer_size: number(header, 16)?,
            segment_base_offset: number(header, 24)?,
            segment_data_size: number(header, 32)?,
        })
    }
}

impl<'a> DataFile<'a> {
    /// Checks the frame of a data file.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        if bytes.get(4..8) != Some(DATA_IDENTIFIER) {
            return Err(Error::InvalidExternalData);
        }
        let header = DataHeader::read(bytes)?;
        let end = header.flatbuffer_offset.checked_add(header.flatbuffer_size).ok_or(Error::InvalidExternalData)?;
        let flatbuffer = bytes.get(..length(end)?).ok_or(Error::InvalidExternalData)?;
        let segments = part(bytes, header.segment_base_offset, header.segment_data_size)?;
        let file = Self { root: Table::root(flatbuffer)?, segments };
        let count = file.root.tables(1)?.len();
        (0..count).try_for_each(|index| file.segment(index).map(drop))?;
        Ok(file)
    }

    /// The version of the schema: 0.
    pub fn version(self) -> Result<u32> {
        self.root.u32(0)
    }

    /// All named entries.
    pub fn entries(self) -> Result<List<'a, DataEntry<'a>>> {
        self.root.tables(2).map(List::new)
    }

    /// The entry with this name.
    pub fn find(self, key: &str) -> Result<DataEntry<'a>> {
        for entry in self.entries()?.iter() {
            let entry = entry?;
            if entry.key()? == key {
                return Ok(entry);
            }
        }
        Err(Error::NotFound)
    }

    /// The bytes of an entry.
    pub fn bytes(self, entry: DataEntry<'a>) -> Result<&'a [u8]> {
        self.segment(entry.segment_index()? as usize)
    }

    fn segment(self, index: usize) -> Result<&'a [u8]> {
        let segment = DataSegment::of(self.root.element(1, index)?);
        part(self.segments, segment.offset()?, segment.size()?)
    }
}

impl<'a> DataEntry<'a> {
    /// The key; for a tensor, the name in the model.
    pub fn key(self) -> Result<&'a str> {
        self.0.string(0)
    }

    /// The segment.
    pub fn segment_index(self) -> Result<u32> {
        self.0.u32(1)
    }

    /// The layout; `None` for an opaque blob.
    pub fn layout(self) -> Result<Option<DataLayout<'a>>> {
        self.0.table(2).map(|table| table.map(DataLayout))
    }
}

impl<'a> DataLayout<'a> {
    /// The element type; an error for a type that this runtime does not support.
    pub fn scalar_type(self) -> Result<ScalarType> {
        ScalarType::from_number(self.0.u8(0)?).ok_or(Error::NotSupported)
    }

    /// The size of each dimension.
    pub fn sizes(self) -> Result<Indices<'a>> {
        self.0.vector(1, 4).map(Indices::new)
    }

    /// The dimensions in memory order.
    pub fn dim_order(self) -> Result<&'a [u8]> {
        self.0.vector(2, 1)
    }

    /// The same as plain data.
    pub fn read(self) -> Result<TensorLayout<'a>> {
        Ok(TensorLayout { scalar_type: self.scalar_type()?, sizes: self.sizes()?, dim_order: self.dim_order()? })
    }
}

fn part(bytes: &[u8], offset: u64, size: u64) -> Result<&[u8]> {
    let rest = bytes.get(length(offset)?..).ok_or(Error::InvalidExternalData)?;
    rest.get(..length(size)?).ok_or(Error::InvalidExternalData)
}

fn length(number: u64) -> Result<usize> {
    usize::try_from(number).map_err(|_| Error::InvalidExternalData)
}

fn number(header: &[u8], position: usize) -> Result<u64> {
    let bytes = header.get(position..).and_then(|rest| rest.first_chunk().copied());
    bytes.map(u64::from_le_bytes).ok_or(Error::InvalidExternalData)
}

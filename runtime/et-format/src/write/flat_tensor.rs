//! Writes data files (`.ptd`).

use std::collections::BTreeMap;
use std::io::{Result, Write};

use et_core::ScalarType;

use super::builder::{Builder, Field, Offset};
use super::layout::{SEGMENT_ALIGNMENT, write_zeros};
use super::write_behind_identifier;
use crate::flat_tensor::{DATA_IDENTIFIER, DataHeader};

/// A blob with a name, for a data file.
#[derive(Clone, Debug)]
pub struct DataEntry<'a> {
    /// The key; for a tensor, the name in the model.
    pub key: String,
    /// The bytes.
    pub data: &'a [u8],
    /// The layout of a tensor; `None` for an opaque blob.
    pub layout: Option<DataLayout>,
}

/// The layout of a tensor: type, sizes and dim order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The size of each dimension.
    pub sizes: Vec<i32>,
    /// The dimensions in memory order.
    pub dim_order: Vec<u8>,
}

/// A range of bytes behind the first segment's start.
struct Segment<'a> {
    offset: u64,
    data: &'a [u8],
}

/// Bytes 8 to 55: the header and padding, a multiple of every alignment inside the flatbuffer.
const HEADER_LENGTH: u64 = 48;

/// Writes `entries` as a `.ptd` file, in order, each aligned to 128 bytes; equal bytes are stored once.
pub fn write_data(entries: &[DataEntry<'_>], out: &mut dyn Write) -> Result<()> {
    let (segments, places) = place(entries);
    let flatbuffer = build(entries, &segments, &places);
    let flatbuffer_end = flatbuffer.len() as u64 + HEADER_LENGTH;
    let base = flatbuffer_end.next_multiple_of(SEGMENT_ALIGNMENT);
    let data_size = segments.last().map_or(0, Segment::end);
    write_behind_identifier(&flatbuffer, &header(flatbuffer.len() as u64, base, data_size), out)?;
    write_zeros((base - flatbuffer_end) as usize, out)?;
    let mut position = 0;
    for segment in &segments {
        write_zeros((segment.offset - position) as usize, out)?;
        out.write_all(segment.data)?;
        position = segment.end();
    }
    Ok(())
}

impl Segment<'_> {
    const fn end(&self) -> u64 {
        self.offset + self.data.len() as u64
    }
}

/// The segments, and the segment index of each entry.
fn place<'a>(entries: &[DataEntry<'a>]) -> (Vec<Segment<'a>>, Vec<u32>) {
    let mut segments: Vec<Segment<'a>> = Vec::new();
    let mut seen = BTreeMap::new();
    let places = entries.iter().map(|entry| {
        *seen.entry(entry.data).or_insert_with(|| {
            let offset = segments.last().map_or(0, Segment::end).next_multiple_of(SEGMENT_ALIGNMENT);
            segments.push(Segment { offset, data: entry.data });
            segments.len() as u32 - 1
        })
    });
    let places = places.collect();
    (segments, places)
}

fn build(entries: &[DataEntry<'_>], segments: &[Segment<'_>], places: &[u32]) -> Vec<u8> {
    let mut builder = Builder::default();
    let segments = builder.list(segments, |builder, segment| {
        builder.table(&[Field::U64(segment.offset), Field::U64(segment.data.len() as u64)])
    });
    let named: Vec<(&DataEntry<'_>, u32)> = entries.iter().zip(places.iter().copied()).collect();
    let named = builder.list(&named, |builder, (entry, segment)| {
        let key = Field::Offset(builder.string(&entry.key));
        let layout = entry.layout.as_ref().map(|layout| build_layout(builder, layout));
        builder.table(&[key, Field::U32(*segment), Field::optional(layout)])
    });
    let root = builder.table(&[Field::Absent, Field::Offset(segments), Field::Offset(named)]);
    builder.finish(root, std::str::from_utf8(DATA_IDENTIFIER).unwrap_or_default())
}

fn build_layout(builder: &mut Builder, layout: &DataLayout) -> Offset {
    let sizes = Field::Offset(builder.words(&layout.sizes));
    let dim_order = Field::Offset(builder.bytes(&layout.dim_order));
    builder.table(&[Field::U8(layout.scalar_type as u8), sizes, dim_order])
}

fn header(flatbuffer_size: u64, segment_base: u64, data_size: u64) -> Vec<u8> {
    let mut header = DataHeader::MAGIC.to_vec();
    header.extend(DataHeader::LENGTH.to_le_bytes());
    for number in [HEADER_LENGTH, flatbuffer_size, segment_base, data_size] {
        header.extend(number.to_le_bytes());
    }
    header.resize(HEADER_LENGTH as usize, 0);
    header
}

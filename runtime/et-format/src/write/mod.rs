//! Writes program and data files from plain data: the host's half of the formats.
//!
//! The layout is the layout of ExecuTorch's exporter: a flatbuffer with the extended header behind the identifier, then
//! aligned segments (constants, initial values, delegates' blobs, named data). Equal models give equal bytes.

mod builder;
mod event_dump;
mod flat_tensor;
mod layout;
mod model;
mod tables;

use std::io::{Result, Write};

pub use event_dump::{DumpContent, DumpEvent, DumpRun, DumpTensor, event_dump};
pub use flat_tensor::{DataEntry, DataLayout, write_data};
pub use layout::{CONSTANT_ALIGNMENT, SEGMENT_ALIGNMENT};
pub use model::{
    Allocation, BackendDelegate, Chain, CompileSpec, ContainerMetadata, EValue, ExecutionPlan, ExtraTensorInfo,
    Instruction, NamedData, Operator, Program, Tensor,
};

use crate::ExtendedHeader;
use layout::{Layout, Segment, write_zeros};

/// Bytes 8 to 39: the header's length, a multiple of every alignment inside the flatbuffer.
const HEADER_LENGTH: usize = ExtendedHeader::LENGTH as usize;

/// Writes `program` as a `.pte` file. Constants and blobs are written to `out` without a copy.
pub fn write_program(program: &Program<'_>, out: &mut dyn Write) -> Result<()> {
    let layout = Layout::new(program);
    let flatbuffer = tables::build(program, &layout);
    if layout.data_size() == 0 {
        return out.write_all(&flatbuffer);
    }
    let program_size = flatbuffer.len() + HEADER_LENGTH;
    let segment_base = program_size.next_multiple_of(SEGMENT_ALIGNMENT as usize);
    let header = ExtendedHeader {
        program_size: program_size as u64,
        segment_base_offset: segment_base as u64,
        segment_data_size: Some(layout.data_size()),
    };
    write_behind_identifier(&flatbuffer, &header_bytes(&header), out)?;
    write_zeros(segment_base - program_size, out)?;
    write_segments(layout.segments(), out)
}

/// Writes the flatbuffer with a header behind its identifier. The header shifts the rest, so the root's offset grows.
fn write_behind_identifier(flatbuffer: &[u8], header: &[u8], out: &mut dyn Write) -> Result<()> {
    let (frame, tables) = flatbuffer.split_at(8);
    let (root, identifier) = frame.split_at(4);
    let root = root.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
    out.write_all(&(root + header.len() as u32).to_le_bytes())?;
    out.write_all(identifier)?;
    out.write_all(header)?;
    out.write_all(tables)
}

fn header_bytes(header: &ExtendedHeader) -> Vec<u8> {
    let mut bytes = ExtendedHeader::MAGIC.to_vec();
    bytes.extend(ExtendedHeader::LENGTH.to_le_bytes());
    bytes.extend(header.program_size.to_le_bytes());
    bytes.extend(header.segment_base_offset.to_le_bytes());
    bytes.extend(header.segment_data_size.unwrap_or_default().to_le_bytes());
    bytes
}

fn write_segments(segments: &[Segment<'_>], out: &mut dyn Write) -> Result<()> {
    let mut position = 0;
    for segment in segments {
        write_zeros((segment.offset - position) as usize, out)?;
        segment.write(out)?;
        position = segment.offset + segment.size();
    }
    Ok(())
}

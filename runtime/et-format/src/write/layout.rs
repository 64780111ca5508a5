//! The segments of a program and their offsets: constants, initial values, blobs, named data.

use std::collections::BTreeMap;
use std::io::{Result, Write};

use super::Program;

/// The alignment of a segment in the file.
pub const SEGMENT_ALIGNMENT: u64 = 128;
/// The alignment of a constant in its segment.
pub const CONSTANT_ALIGNMENT: u64 = 16;
/// The same for constants of [`LARGE`] bytes or more: a cache line.
const LARGE_ALIGNMENT: u64 = 64;
/// From how many bytes on a constant begins with a cache line.
const LARGE: usize = 1 << 10;

/// The segments of a program, and the segment of each constant, blob and named data.
pub(super) struct Layout<'a> {
    segments: Vec<Segment<'a>>,
    blobs: BTreeMap<&'a [u8], u32>,
    pub(super) constants: PartOffsets,
    pub(super) initial_values: Option<PartOffsets>,
    pub(super) named_data: Vec<u32>,
}

/// A segment: parts, each padded to an alignment but the last.
pub(super) struct Segment<'a> {
    pub(super) offset: u64,
    parts: Vec<&'a [u8]>,
    alignment: PartAlignment,
}

/// The alignment of a part, computed from its bytes.
type PartAlignment = fn(&[u8]) -> u64;

/// Parts without padding.
const fn dense(_: &[u8]) -> u64 {
    1
}

/// The alignment of constants.
const fn of_constants(part: &[u8]) -> u64 {
    if part.len() < LARGE { CONSTANT_ALIGNMENT } else { LARGE_ALIGNMENT }
}

/// Where the parts of a segment start. Index 0 is a placeholder, since 0 means no data.
pub(super) struct PartOffsets {
    pub(super) segment: u32,
    pub(super) offsets: Vec<u64>,
}

impl<'a> Layout<'a> {
    /// Lays out the segments in the order of upstream's exporter.
    pub(super) fn new(program: &Program<'a>) -> Self {
        let mut layout = Self {
            constants: PartOffsets { segment: 0, offsets: part_offsets(&program.constants, of_constants) },
            segments: Vec::new(),
            blobs: BTreeMap::new(),
            initial_values: None,
            named_data: Vec::new(),
        };
        layout.push(program.constants.clone(), of_constants, SEGMENT_ALIGNMENT);
        layout.add_initial_values(program);
        layout.add_blobs(program);
        layout.add_named_data(program);
        layout
    }

    /// All segments in file order.
    pub(super) fn segments(&self) -> &[Segment<'a>] {
        &self.segments
    }

    /// The bytes from the start of the first segment to the end of the last segment.
    pub(super) fn data_size(&self) -> u64 {
        self.segments.last().map_or(0, |segment| segment.offset + segment.size())
    }

    /// The segment of this delegate's blob; an empty blob has no segment.
    pub(super) fn blob_segment(&self, blob: &[u8]) -> Option<u32> {
        self.blobs.get(blob).copied()
    }

    fn add_initial_values(&mut self, program: &Program<'a>) {
        if !program.initial_values.is_empty() {
            let segment = self.push(program.initial_values.clone(), dense, SEGMENT_ALIGNMENT);
            self.initial_values = Some(PartOffsets { segment, offsets: part_offsets(&program.initial_values, dense) });
        }
    }

    fn add_blobs(&mut self, program: &Program<'a>) {
        for delegate in program.execution_plans.iter().flat_map(|plan| &plan.delegates) {
            if !delegate.blob.is_empty() && !self.blobs.contains_key(delegate.blob) {
                let segment = self.push(vec![delegate.blob], dense, SEGMENT_ALIGNMENT);
                self.blobs.insert(delegate.blob, segment);
            }
        }
    }

    fn add_named_data(&mut self, program: &Program<'a>) {
        let mut seen = BTreeMap::new();
        for entry in &program.named_data {
            let alignment = entry.alignment.max(SEGMENT_ALIGNMENT);
            let segment =
                *seen.entry((entry.data, alignment)).or_insert_with(|| self.push(vec![entry.data], dense, alignment));
            self.named_data.push(segment);
        }
    }

    fn push(&mut self, parts: Vec<&'a [u8]>, part_alignment: PartAlignment, alignment: u64) -> u32 {
        let offset = self.data_size().next_multiple_of(alignment);
        self.segments.push(Segment { offset, parts, alignment: part_alignment });
        self.segments.len() as u32 - 1
    }
}

impl Segment<'_> {
    /// The number of bytes.
    pub(super) fn size(&self) -> u64 {
        self.parts.iter().fold(0, |end, part| end.next_multiple_of((self.alignment)(part)) + part.len() as u64)
    }

    /// Writes the parts with padding.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let mut end = 0_u64;
        for part in &self.parts {
            let start = end.next_multiple_of((self.alignment)(part));
            write_zeros((start - end) as usize, out)?;
            out.write_all(part)?;
            end = start + part.len() as u64;
        }
        Ok(())
    }
}

fn part_offsets(parts: &[&[u8]], alignment: PartAlignment) -> Vec<u64> {
    let mut offsets = vec![0];
    let mut end = 0_u64;
    for part in parts {
        let start = end.next_multiple_of(alignment(part));
        offsets.push(start);
        end = start + part.len() as u64;
    }
    offsets
}

/// Writes `count` zero bytes.
pub(super) fn write_zeros(count: usize, out: &mut dyn Write) -> Result<()> {
    const ZEROS: [u8; SEGMENT_ALIGNMENT as usize] = [0; SEGMENT_ALIGNMENT as usize];
    let mut left = count;
    while left > 0 {
        let step = left.min(ZEROS.len());
        out.write_all(&ZEROS[..step])?;
        left -= step;
    }
    Ok(())
}

//! The parts of a file: the flatbuffer and every constant, blob and text of a program file or data file, so that equal weights have equal digests
//! wherever the weights are.

use std::collections::BTreeMap;
use std::ops::Range;

use blake3::Hash;
use et_core::Result;
use et_format::{DATA_IDENTIFIER, DataFile, IDENTIFIER, ProgramFile};
use rayon::prelude::*;

/// A part of a file.
#[derive(Clone, Debug)]
pub struct Part {
    /// The bytes in the file.
    pub range: Range<usize>,
    /// The name in the file, if any.
    pub name: Option<String>,
    /// The digest of the bytes.
    pub digest: Hash,
}

/// The parts of a file, which cover the file in order. A file of another format is one part.
pub fn parts(bytes: &[u8]) -> Vec<Part> {
    let named = match bytes.get(4..8) {
        Some(identifier) if identifier == IDENTIFIER => of_program(bytes),
        Some(identifier) if identifier == DATA_IDENTIFIER => of_data(bytes),
        _ => Ok(BTreeMap::new()),
    };
    // A malformed file is bytes without parts.
    let ranges = covering(named.unwrap_or_default(), bytes.len());
    let part = |(range, name): (Range<usize>, Option<String>)| {
        let digest = blake3::hash(bytes.get(range.clone()).unwrap_or_default());
        Part { range, name, digest }
    };
    ranges.into_par_iter().map(part).collect()
}

/// Where parts start, with their ends and names.
type Named = BTreeMap<usize, (usize, Option<String>)>;

fn of_program(bytes: &[u8]) -> Result<Named> {
    let file = ProgramFile::parse(bytes)?;
    let program = file.program();
    let mut named = Named::new();
    let count = program.segments()?.len() as u32;
    for index in 0..count {
        insert(&mut named, bytes, file.segment(index)?, None);
    }
    for entry in program.named_data()?.iter() {
        let entry = entry?;
        insert(&mut named, bytes, file.segment(entry.segment_index()?)?, Some(entry.key()?.to_owned()));
    }
    if let Some(constants) = program.constant_segment()?
        && !constants.offsets()?.is_empty()
    {
        let segment = file.segment(constants.segment_index()?)?;
        for offset in constants.offsets()?.iter() {
            split(&mut named, bytes, segment, offset.cast_unsigned());
        }
    }
    Ok(named)
}

fn of_data(bytes: &[u8]) -> Result<Named> {
    let file = DataFile::parse(bytes)?;
    let mut named = Named::new();
    for entry in file.entries()?.iter() {
        let entry = entry?;
        insert(&mut named, bytes, file.bytes(entry)?, Some(entry.key()?.to_owned()));
    }
    Ok(named)
}

fn insert(named: &mut Named, bytes: &[u8], part: &[u8], name: Option<String>) {
    if let Some(start) = place(bytes, part) {
        named.insert(start, (start + part.len(), name));
    }
}

/// Where a part of `bytes` starts. An empty part may be anywhere in memory.
fn place(bytes: &[u8], part: &[u8]) -> Option<usize> {
    let start = part.as_ptr().addr().checked_sub(bytes.as_ptr().addr())?;
    (!part.is_empty() && start < bytes.len()).then_some(start)
}

/// Ends the part of `segment` at an offset, and begins another part there.
fn split(named: &mut Named, bytes: &[u8], segment: &[u8], offset: u64) {
    let within = usize::try_from(offset).ok().filter(|offset| *offset < segment.len());
    let (Some(start), Some(within)) = (place(bytes, segment), within) else { return };
    let at = start + within;
    if let Some((_, (end, name))) = named.range_mut(..at).next_back()
        && *end > at
    {
        let rest = (*end, name.clone());
        *end = at;
        named.insert(at, rest);
    }
}

/// Adds the bytes between parts.
fn covering(named: Named, size: usize) -> Vec<(Range<usize>, Option<String>)> {
    let mut ranges = Vec::new();
    let mut done = 0;
    for (start, (end, name)) in named {
        if start > done {
            ranges.push((done..start, None));
        }
        if end > start.max(done) {
            ranges.push((start.max(done)..end, name));
            done = end;
        }
    }
    if size > done {
        ranges.push((done..size, None));
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_a_program_file() {
        let bytes = include_bytes!("../../../runtime/et-format/tests/data/add.pte");
        for bytes in [&bytes[..], b"no program", b""] {
            let parts = parts(bytes);
            let ends: Vec<usize> = parts.iter().map(|part| part.range.end).collect();
            let starts: Vec<usize> = parts.iter().map(|part| part.range.start).collect();
            assert!(parts.is_empty() || (starts[0] == 0 && starts[1..] == ends[..ends.len() - 1]));
            assert_eq!(ends.last().copied().unwrap_or(0), bytes.len());
        }
    }

    #[test]
    fn overlapping_parts_cover_every_byte_once() {
        let named = Named::from([(2, (6, None)), (4, (9, Some("a".to_owned()))), (5, (7, None))]);
        let ranges: Vec<Range<usize>> = covering(named, 10).into_iter().map(|(range, _)| range).collect();
        assert_eq!(ranges, [0..2, 2..6, 6..9, 9..10]);
    }
}

//! A program file: the flatbuffer and the segments behind the flatbuffer.

use et_core::{Error, Longs, Result};

use crate::{BackendDelegate, DataLocation, ExtendedHeader, IDENTIFIER, Program, SubsegmentOffsets};

/// The prefix of the named-data key with the names of a method's inputs; the method's name follows.
pub const INPUTS_KEY: &str = "etbuild.inputs.";

/// The prefix of the named-data key with the smallest sizes of a method's inputs; the method's name follows. A line per input: sizes
/// separated by commas, or nothing for an input of static sizes. A program of static sizes has no such key.
pub const LEAST_KEY: &str = "etbuild.least.";

/// A program file in memory, with validated header, identifier and segment ranges.
#[derive(Clone, Copy, Debug)]
pub struct ProgramFile<'a> {
    program: Program<'a>,
    /// The file from the first segment on.
    segments: &'a [u8],
}

impl<'a> ProgramFile<'a> {
    /// A file without contents, in which everything is missing: an access is an error.
    pub const EMPTY: Self = Self { program: Program::EMPTY, segments: &[] };

    /// Checks the frame of a program file.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        if bytes.get(4..8) != Some(IDENTIFIER) {
            return Err(Error::InvalidProgram);
        }
        let (flatbuffer, segments) = match ExtendedHeader::read(bytes)? {
            Some(header) => split(bytes, header)?,
            None => (bytes, &[][..]),
        };
        let file = Self { program: Program::root(flatbuffer)?, segments };
        let count = file.program.segments()?.len() as u32;
        (0..count).try_for_each(|index| file.segment(index).map(drop))?;
        Ok(file)
    }

    /// The flatbuffer's root.
    pub const fn program(self) -> Program<'a> {
        self.program
    }

    /// The bytes of segment `index`.
    pub fn segment(self, index: u32) -> Result<&'a [u8]> {
        let segment = self.program.segment(index as usize)?;
        let start = length(segment.offset()?)?;
        let size = length(segment.size()?)?;
        self.segments.get(start..).and_then(|rest| rest.get(..size)).ok_or(Error::InvalidProgram)
    }

    /// The first `size` bytes of constant `index`, which counts from 1; the files do not say where a constant ends.
    pub fn constant(self, index: usize, size: usize) -> Result<&'a [u8]> {
        let bytes = match self.program.constant_segment()? {
            Some(offsets) if !offsets.offsets()?.is_empty() => self.subsegment(offsets, index)?,
            _ => self.program.constant_buffer(index)?.storage()?,
        };
        bytes.get(..size).ok_or(Error::InvalidProgram)
    }

    /// The first `size` bytes of the initial value `index` of a mutable buffer, which counts from 1.
    pub fn initial_value(self, index: usize, size: usize) -> Result<&'a [u8]> {
        let bytes = self.subsegment(self.program.mutable_data_segment(0)?, index)?;
        bytes.get(..size).ok_or(Error::InvalidProgram)
    }

    /// The bytes with this name.
    pub fn named_data(self, key: &str) -> Result<&'a [u8]> {
        for entry in self.program.named_data()?.iter() {
            let entry = entry?;
            if entry.key()? == key {
                return self.segment(entry.segment_index()?);
            }
        }
        Err(Error::NotFound)
    }

    /// The names of a method's inputs, a line each, if the producer recorded names: upstream's runtime identifies
    /// inputs by position.
    pub fn input_names(self, method: &str) -> Result<&'a str> {
        self.text_of_method(INPUTS_KEY, method)
    }

    /// The smallest sizes of a method's inputs, in the form of [`LEAST_KEY`], if the producer recorded sizes.
    pub fn least_sizes(self, method: &str) -> Result<&'a str> {
        self.text_of_method(LEAST_KEY, method)
    }

    /// The named data of a method.
    fn text_of_method(self, prefix: &str, method: &str) -> Result<&'a str> {
        for entry in self.program.named_data()?.iter() {
            let entry = entry?;
            if entry.key()?.strip_prefix(prefix) == Some(method) {
                let text = self.segment(entry.segment_index()?)?;
                return core::str::from_utf8(text).map_err(|_| Error::InvalidProgram);
            }
        }
        Err(Error::NotFound)
    }

    /// The blob of a delegate.
    pub fn delegate_blob(self, delegate: BackendDelegate<'a>) -> Result<&'a [u8]> {
        let reference = delegate.processed()?;
        match reference.location {
            DataLocation::Segment => self.segment(reference.index),
            DataLocation::Inline => self.program.inline_data(reference.index as usize)?.data(),
        }
    }

    /// Part `index` of a segment, through the segment's end.
    fn subsegment(self, parts: SubsegmentOffsets<'a>, index: usize) -> Result<&'a [u8]> {
        let segment = self.segment(parts.segment_index()?)?;
        let offset = Longs::get(parts.offsets()?, index).ok_or(Error::InvalidProgram)?;
        segment.get(length(offset.cast_unsigned())?..).ok_or(Error::InvalidProgram)
    }
}

/// Splits the file into the flatbuffer and the bytes from the first segment on.
fn split(bytes: &[u8], header: ExtendedHeader) -> Result<(&[u8], &[u8])> {
    let flatbuffer = bytes.get(..length(header.program_size)?).ok_or(Error::InvalidProgram)?;
    let behind = bytes.get(length(header.segment_base_offset)?..).ok_or(Error::InvalidProgram)?;
    let segments = match header.segment_data_size {
        Some(size) => behind.get(..length(size)?).ok_or(Error::InvalidProgram)?,
        None => behind,
    };
    Ok((flatbuffer, segments))
}

fn length(number: u64) -> Result<usize> {
    usize::try_from(number).map_err(|_| Error::InvalidProgram)
}

//! New bytes of a file, of old files and the pieces of a delta.

use std::io::{Read, Seek, SeekFrom, Write};

use blake3::{Hash, Hasher};

use crate::operation::{Operation, Operations};
use crate::{Delta, Error, ReadSeek};

/// The old files, by position in the header; `None` for a file that the old version lacks.
pub type Bases = Vec<Option<Box<dyn ReadSeek>>>;

/// The bytes that are copied at a time.
const COPY_SIZE: usize = 1 << 16;

/// Writes the new bytes of the file at position `file` of the header, and returns their digest. Files are rebuilt in the order of the header.
///
/// # Errors
/// [`Error::Malformed`] for operations that do not make as many bytes as the header says; failures of `out` go through `failed`.
pub fn rebuild(
    delta: &mut Delta,
    file: usize,
    bases: &mut Bases,
    out: &mut dyn Write,
    failed: &dyn Fn(std::io::Error) -> Error,
) -> Result<Hash, Error> {
    let change = delta.header.files.get(file).cloned().ok_or(Error::Malformed("no such file"))?;
    let left = change.after.map_or(0, |after| after.size);
    let mut rebuilding = Rebuilding { bases, out, failed, hasher: Hasher::new(), left, buffer: vec![0; COPY_SIZE] };
    for piece in &change.pieces {
        rebuilding.piece(&delta.next_piece(piece)?)?;
    }
    match rebuilding.left {
        0 => Ok(rebuilding.hasher.finalize()),
        _ => Err(Error::Malformed("the pieces make fewer bytes than the header says")),
    }
}

struct Rebuilding<'a> {
    bases: &'a mut Bases,
    out: &'a mut dyn Write,
    failed: &'a dyn Fn(std::io::Error) -> Error,
    hasher: Hasher,
    /// The bytes that are missing in the new file.
    left: u64,
    buffer: Vec<u8>,
}

impl Rebuilding<'_> {
    fn piece(&mut self, operations: &[u8]) -> Result<(), Error> {
        Operations::new(operations).try_for_each(|operation| self.perform(operation?))
    }

    fn perform(&mut self, operation: Operation<'_>) -> Result<(), Error> {
        match operation {
            Operation::Data(data) => self.write(data),
            Operation::Copy { file, offset, length } => {
                self.seek(file, offset)?;
                let mut left = length;
                while left > 0 {
                    let count = left.min(COPY_SIZE as u64) as usize;
                    self.old(file, &[], count)?;
                    left -= count as u64;
                }
                Ok(())
            }
            Operation::Patch { file, offset, differences } => {
                self.seek(file, offset)?;
                differences.chunks(COPY_SIZE).try_for_each(|part| self.old(file, part, part.len()))
            }
        }
    }

    fn seek(&mut self, file: usize, offset: u64) -> Result<(), Error> {
        self.base(file)?.seek(SeekFrom::Start(offset)).map(drop).map_err(|_| OUTSIDE)
    }

    fn base(&mut self, file: usize) -> Result<&mut Box<dyn ReadSeek>, Error> {
        self.bases.get_mut(file).and_then(Option::as_mut).ok_or(OUTSIDE)
    }

    /// Writes the next `count` old bytes, plus differences.
    fn old(&mut self, file: usize, differences: &[u8], count: usize) -> Result<(), Error> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let part = buffer.get_mut(..count).ok_or(OUTSIDE)?;
        self.base(file)?.read_exact(part).map_err(|_| OUTSIDE)?;
        part.iter_mut().zip(differences).for_each(|(byte, difference)| *byte = byte.wrapping_add(*difference));
        let written = self.write(part);
        self.buffer = buffer;
        written
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or(Error::Malformed("the pieces make more bytes than the header says"))?;
        self.hasher.update(bytes);
        self.out.write_all(bytes).map_err(self.failed)
    }
}

const OUTSIDE: Error = Error::Malformed("an operation reads outside a file");

//! The pieces of a delta as they are made: operations in pieces of 1 MiB, compressed on all processors, in order.

use std::io::Write;
use std::path::Path;

use et_update::{Error, Operation, OperationWriter, PIECE_SIZE, Piece};
use rayon::prelude::*;

/// The level of compression; higher levels take several times as long for a percent.
const LEVEL: u8 = 6;
/// The pieces that wait for compression.
const WAITING_MOST: usize = 8;
/// The least room for data or differences in a piece.
const LEAST_ROOM: usize = 1024;

/// The pieces of a file so far.
pub struct Body<'a> {
    out: &'a mut dyn Write,
    /// The file that failures of `out` name.
    path: &'a Path,
    operations: OperationWriter,
    /// A copy that the next operation may lengthen: file, offset, length.
    copy: Option<(usize, u64, u64)>,
    waiting: Vec<Vec<u8>>,
    pieces: Vec<Piece>,
}

impl<'a> Body<'a> {
    /// No pieces yet; stored bytes go to `out`.
    pub fn new(out: &'a mut dyn Write, path: &'a Path) -> Self {
        Self { out, path, operations: OperationWriter::default(), copy: None, waiting: Vec::new(), pieces: Vec::new() }
    }

    /// Old bytes.
    pub fn copy(&mut self, file: usize, offset: u64, length: u64) -> Result<(), Error> {
        match &mut self.copy {
            Some((last, start, count)) if *last == file && *start + *count == offset => *count += length,
            _ => {
                self.end_copy()?;
                self.copy = Some((file, offset, length));
            }
        }
        Ok(())
    }

    /// Old bytes with changes.
    pub fn patch(&mut self, file: usize, offset: u64, old: &[u8], new: &[u8]) -> Result<(), Error> {
        self.end_copy()?;
        let mut done = 0;
        while done < new.len() {
            let count = self.room()?.min(new.len() - done);
            let pairs = new.iter().zip(old).skip(done).take(count);
            let differences: Vec<u8> = pairs.map(|(new, old)| new.wrapping_sub(*old)).collect();
            self.operations.push(Operation::Patch { file, offset: offset + done as u64, differences: &differences });
            done += count;
        }
        Ok(())
    }

    /// New bytes.
    pub fn data(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        self.end_copy()?;
        while !bytes.is_empty() {
            let room = self.room()?;
            let (part, rest) = bytes.split_at(room.min(bytes.len()));
            self.operations.push(Operation::Data(part));
            bytes = rest;
        }
        Ok(())
    }

    /// The pieces.
    pub fn finish(mut self) -> Result<Vec<Piece>, Error> {
        self.end_copy()?;
        self.end_piece()?;
        self.store()?;
        Ok(self.pieces)
    }

    fn end_copy(&mut self) -> Result<(), Error> {
        if let Some((file, offset, length)) = self.copy.take() {
            self.room()?;
            self.operations.push(Operation::Copy { file, offset, length });
        }
        Ok(())
    }

    /// The bytes that an operation of this piece may have.
    fn room(&mut self) -> Result<usize, Error> {
        let room = PIECE_SIZE.saturating_sub(self.operations.len() + OperationWriter::FRAME);
        if room < LEAST_ROOM {
            self.end_piece()?;
            return Ok(PIECE_SIZE - OperationWriter::FRAME);
        }
        Ok(room)
    }

    fn end_piece(&mut self) -> Result<(), Error> {
        if !self.operations.is_empty() {
            self.waiting.push(std::mem::take(&mut self.operations).into_bytes());
        }
        if self.waiting.len() >= WAITING_MOST { self.store() } else { Ok(()) }
    }

    fn store(&mut self) -> Result<(), Error> {
        let stored: Vec<(Piece, Vec<u8>)> = std::mem::take(&mut self.waiting).into_par_iter().map(stored).collect();
        for (piece, bytes) in stored {
            self.out.write_all(&bytes).map_err(|source| Error::File { path: self.path.to_owned(), source })?;
            self.pieces.push(piece);
        }
        Ok(())
    }
}

/// A piece, compressed if that makes the piece shorter.
pub fn stored(operations: Vec<u8>) -> (Piece, Vec<u8>) {
    let size = operations.len() as u32;
    let compressed = miniz_oxide::deflate::compress_to_vec(&operations, LEVEL);
    let stored = if compressed.len() < operations.len() { compressed } else { operations };
    (Piece { stored: stored.len() as u32, size, digest: blake3::hash(&stored) }, stored)
}

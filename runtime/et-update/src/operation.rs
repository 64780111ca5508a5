//! The operations that make new bytes of old bytes, and their bytes in a piece.
//!
//! An operation is a tag (1 byte) and numbers as LEB128: `data` (0) is length and bytes; `copy` (1) is file, place and length; `patch` (2) is
//! file, place, length and as many differences. A place is the distance from the end of the last `copy` or `patch` of the piece, in zigzag form.

use crate::Error;

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// New bytes.
    Data(&'a [u8]),
    /// Bytes of an old file.
    Copy {
        /// The position of the file in the header.
        file: usize,
        /// The first byte.
        offset: u64,
        /// The number of bytes.
        length: u64,
    },
    /// Bytes of an old file, each plus a difference (modulo 256).
    Patch {
        /// The position of the file in the header.
        file: usize,
        /// The first byte.
        offset: u64,
        /// The differences.
        differences: &'a [u8],
    },
}

const DATA: u8 = 0;
const COPY: u8 = 1;
const PATCH: u8 = 2;

/// The operations of a piece, in order.
#[derive(Clone, Debug)]
pub struct Operations<'a> {
    rest: &'a [u8],
    /// The end of the last operation on an old file.
    end: u64,
}

impl<'a> Operations<'a> {
    /// Reads a piece.
    pub const fn new(piece: &'a [u8]) -> Self {
        Self { rest: piece, end: 0 }
    }

    fn read(&mut self) -> Result<Operation<'a>, Error> {
        match self.bytes(1)? {
            [DATA] => {
                let length = self.number()?;
                self.bytes(length).map(Operation::Data)
            }
            [COPY] => {
                let (file, offset, length) = self.place()?;
                Ok(Operation::Copy { file, offset, length })
            }
            [PATCH] => {
                let (file, offset, length) = self.place()?;
                Ok(Operation::Patch { file, offset, differences: self.bytes(length)? })
            }
            _ => Err(Error::Malformed("an unknown operation")),
        }
    }

    /// File, offset and length.
    fn place(&mut self) -> Result<(usize, u64, u64), Error> {
        let outside = Error::Malformed("an operation reads outside a file");
        let (file, place, length) = (self.number()?, self.number()?, self.number()?);
        let distance = (place >> 1).cast_signed() ^ -((place & 1).cast_signed());
        let offset = self.end.checked_add_signed(distance);
        let (Some(offset), Ok(file)) = (offset, usize::try_from(file)) else { return Err(outside) };
        self.end = offset.checked_add(length).ok_or(outside)?;
        Ok((file, offset, length))
    }

    fn bytes(&mut self, count: u64) -> Result<&'a [u8], Error> {
        let taken = usize::try_from(count).ok().and_then(|count| self.rest.split_at_checked(count));
        let (taken, rest) = taken.ok_or(Error::Malformed("a piece ends early"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.bytes(1)?.first().copied().unwrap_or_default();
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Error::Malformed("a number is too large"))
    }
}

impl<'a> Iterator for Operations<'a> {
    type Item = Result<Operation<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.rest = &[];
        }
        Some(read)
    }
}

/// Writes the operations of a piece.
#[derive(Debug, Default)]
pub struct OperationWriter {
    bytes: Vec<u8>,
    end: u64,
}

impl OperationWriter {
    /// The most bytes of an operation besides data and differences.
    pub const FRAME: usize = 1 + 3 * 10;

    /// Appends an operation.
    pub fn push(&mut self, operation: Operation<'_>) {
        match operation {
            Operation::Data(data) => {
                self.bytes.push(DATA);
                self.number(data.len() as u64);
                self.bytes.extend(data);
            }
            Operation::Copy { file, offset, length } => {
                self.bytes.push(COPY);
                self.place(file, offset, length);
            }
            Operation::Patch { file, offset, differences } => {
                self.bytes.push(PATCH);
                self.place(file, offset, differences.len() as u64);
                self.bytes.extend(differences);
            }
        }
    }

    /// The number of bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is no operation yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes of the piece.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn place(&mut self, file: usize, offset: u64, length: u64) {
        let distance = offset.wrapping_sub(self.end).cast_signed();
        self.number(file as u64);
        self.number(((distance << 1) ^ (distance >> 63)).cast_unsigned());
        self.number(length);
        self.end = offset + length;
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_what_their_bytes_say() {
        let operations = [
            Operation::Copy { file: 3, offset: 1 << 40, length: 5 },
            Operation::Data(b"new"),
            Operation::Patch { file: 0, offset: 7, differences: &[1, 255] },
            Operation::Copy { file: 0, offset: 9, length: 1 << 33 },
            Operation::Data(b""),
        ];
        let mut writer = OperationWriter::default();
        operations.iter().for_each(|operation| writer.push(*operation));
        let bytes = writer.into_bytes();
        let read: Result<Vec<_>, _> = Operations::new(&bytes).collect();
        assert_eq!(read.unwrap(), operations);
    }

    #[test]
    fn damaged_operations_are_errors() {
        let huge = [0xff; 10];
        for bytes in [
            &[9][..],
            &[DATA, 4, 1],
            &[COPY, 0, 1, 1],
            &[COPY, 0],
            &[[COPY].as_slice(), &huge].concat(),
            &[PATCH, 0, 0, 2, 1],
        ] {
            assert!(Operations::new(bytes).any(|operation| operation.is_err()), "{bytes:?}");
        }
    }

    #[test]
    fn nothing_follows_an_error() {
        assert_eq!(Operations::new(&[9, DATA, 0]).count(), 1);
    }
}

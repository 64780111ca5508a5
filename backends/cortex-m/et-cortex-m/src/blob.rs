//! The blob of a partition: a header, instructions, and constants that are read in place.
//!
//! All numbers are little-endian words. Constants begin at a multiple of [`ALIGNMENT`] bytes, each of them too.

use et_core::{Error, Result};
use et_record::{Record, Words, records};

use crate::Instruction;

/// `ETCM`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"ETCM");

/// The version of the blob format.
pub const VERSION: u32 = 4;

/// The alignment of constants and of scratch buffers, in bytes.
pub const ALIGNMENT: usize = 8;

records! {
    /// The beginning of a blob.
    pub struct Header {
        /// [`MAGIC`].
        pub magic: u32,
        /// [`VERSION`].
        pub version: u32,
        /// The number of the [`crate::Row`] that the weights are packed for.
        pub row: u32,
        /// Inputs and outputs of the call; the scratch memory, if any, is the argument behind them.
        pub arguments: u32,
        /// Bytes of scratch memory.
        pub scratch: u32,
        /// Words of all instructions together.
        pub words: u32,
        /// The offset of the constants in bytes.
        pub constants: u32,
    }
}

/// A blob whose parts have been found; instructions are checked as they are read.
#[derive(Clone, Copy, Debug)]
pub struct Blob<'a> {
    header: Header,
    instructions: Words<'a>,
    constants: &'a [u8],
}

impl<'a> Blob<'a> {
    /// Finds the parts.
    ///
    /// # Errors
    /// [`Error::DelegateInvalidCompatibility`] for other bytes, [`Error::InvalidProgram`] for missing parts.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut words = Words::new(bytes);
        let header = Header::read(&mut words).ok_or(Error::InvalidProgram)?;
        if (header.magic, header.version) != (MAGIC, VERSION) {
            return Err(Error::DelegateInvalidCompatibility);
        }
        let instructions = words.take(header.words as usize).ok_or(Error::InvalidProgram)?;
        let constants = bytes.get(header.constants as usize..).ok_or(Error::InvalidProgram)?;
        Ok(Self { header, instructions, constants })
    }

    /// The header.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The constants.
    pub const fn constants(&self) -> &'a [u8] {
        self.constants
    }

    /// The instructions in order.
    pub fn instructions(&self) -> impl Iterator<Item = Result<Instruction>> + use<'a> {
        let mut words = self.instructions;
        core::iter::from_fn(move || {
            if words.is_empty() {
                return None;
            }
            let read = Instruction::read(&mut words);
            if read.is_none() {
                words = Words::new(&[]);
            }
            Some(read.ok_or(Error::InvalidProgram))
        })
    }
}

//! The commands of a stream: one word, or two with a payload.

use crate::fault::{Fault, Problem};

/// Bit of a code: the command has a second word.
pub const PAYLOAD: u16 = 1 << 14;
/// The bits of a code that are zero in every command.
const RESERVED: u16 = 0xbc00;

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The offset of the first word in bytes.
    pub offset: usize,
    /// Which command, with [`PAYLOAD`].
    pub code: u16,
    /// The upper half of the first word.
    pub parameter: u16,
    /// The second word; 0 without one.
    pub payload: u32,
}

/// The commands of a stream, in order.
pub struct Commands<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Commands<'a> {
    /// The commands of the bytes of a stream.
    pub const fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    fn word(&mut self) -> Option<u32> {
        let word = self.bytes.get(self.offset..)?.first_chunk::<4>()?;
        self.offset += 4;
        Some(u32::from_le_bytes(*word))
    }

    /// The next command.
    ///
    /// # Errors
    /// [`Problem::End`] without a further word, [`Problem::Command`] for a code with reserved bits.
    pub fn next(&mut self) -> Result<Command, Fault> {
        let offset = self.offset;
        let fault = |problem| Fault { offset, problem };
        let word = self.word().ok_or(fault(Problem::End))?;
        let (code, parameter) = (word as u16, (word >> 16) as u16);
        if code & RESERVED != 0 {
            return Err(fault(Problem::Command(code)));
        }
        let payload = if code & PAYLOAD != 0 { self.word().ok_or(fault(Problem::End))? } else { 0 };
        Ok(Command { offset, code, parameter, payload })
    }
}

//! The blob of a partition: a header, the inputs and outputs, the command stream and the weights.
//!
//! All numbers are little-endian words. The command stream and the weights begin at a multiple of [`ALIGNMENT`] bytes.

use et_core::{Error, Result};
use et_record::{Record, Words, records};

/// `ETEU`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"ETEU");

/// The version of the blob format.
pub const VERSION: u32 = 1;

/// The alignment of the NPU's memory, in bytes.
pub const ALIGNMENT: usize = 16;

records! {
    /// The beginning of a blob. The [`Port`]s of inputs and outputs follow.
    pub struct Header {
        /// [`MAGIC`].
        pub magic: u32,
        /// [`VERSION`].
        pub version: u32,
        /// The kind of NPU and its size, as in the NPU's own register: see [`crate::driver::is_for`].
        pub config: u32,
        /// The address of the NPU's registers.
        pub registers: u32,
        /// The memory port of each region, two bits each: the value of the NPU's register.
        pub regions: u32,
        /// Inputs of the call.
        pub inputs: u32,
        /// Outputs of the call.
        pub outputs: u32,
        /// Bytes of scratch memory.
        pub scratch: u32,
        /// The offset of the command stream in bytes.
        pub commands: u32,
        /// Bytes of the command stream.
        pub commands_size: u32,
        /// The offset of the weights in bytes.
        pub weights: u32,
        /// Bytes of the weights.
        pub weights_size: u32,
        /// The compiler's estimate of the cycles of a run.
        pub cycles: u32,
    }

    /// An input or output in the scratch memory.
    pub struct Port {
        /// The offset in bytes.
        pub offset: u32,
        /// The number of int8 elements.
        pub count: u32,
        /// The distance of neighbouring numbers of an output that becomes float32; 0 for int8.
        pub scale: f32,
        /// The integer of 0.0.
        pub zero: i32,
    }
}

/// A blob whose parts have been found and checked.
#[derive(Clone, Copy, Debug)]
pub struct Blob<'a> {
    header: Header,
    ports: Words<'a>,
    commands: &'a [u8],
    weights: &'a [u8],
}

impl<'a> Blob<'a> {
    /// Finds the parts.
    ///
    /// # Errors
    /// [`Error::DelegateInvalidCompatibility`] for other bytes, [`Error::InvalidProgram`] for missing parts, and for ports outside the
    /// scratch memory.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut words = Words::new(bytes);
        let header = Header::read(&mut words).ok_or(Error::InvalidProgram)?;
        if (header.magic, header.version) != (MAGIC, VERSION) {
            return Err(Error::DelegateInvalidCompatibility);
        }
        Self::parts(bytes, header, words).ok_or(Error::InvalidProgram)
    }

    fn parts(bytes: &'a [u8], header: Header, mut words: Words<'a>) -> Option<Self> {
        let count = (header.inputs as usize).checked_add(header.outputs as usize)?;
        let ports = words.take(count.checked_mul(PORT_WORDS)?)?;
        let commands = part(bytes, header.commands, header.commands_size)?;
        let weights = part(bytes, header.weights, header.weights_size)?;
        let blob = Self { header, ports, commands, weights };
        let fits = |port: Port| port.offset.checked_add(port.count).is_some_and(|end| end <= header.scratch);
        let is_whole = !commands.is_empty() && commands.len().is_multiple_of(4);
        (is_whole && blob.all_ports().all(fits)).then_some(blob)
    }

    /// The header.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The command stream.
    pub const fn commands(&self) -> &'a [u8] {
        self.commands
    }

    /// The weights.
    pub const fn weights(&self) -> &'a [u8] {
        self.weights
    }

    /// The inputs in the order of the call.
    pub fn inputs(&self) -> impl Iterator<Item = Port> + use<'a> {
        self.all_ports().take(self.header.inputs as usize)
    }

    /// The outputs in the order of the call.
    pub fn outputs(&self) -> impl Iterator<Item = Port> + use<'a> {
        self.all_ports().skip(self.header.inputs as usize)
    }

    fn all_ports(&self) -> impl Iterator<Item = Port> + use<'a> {
        let mut words = self.ports;
        core::iter::from_fn(move || Port::read(&mut words))
    }
}

/// The words of a [`Port`].
const PORT_WORDS: usize = 4;

/// A part that begins at a multiple of [`ALIGNMENT`].
fn part(bytes: &[u8], offset: u32, size: u32) -> Option<&[u8]> {
    let start = (offset as usize).is_multiple_of(ALIGNMENT).then_some(offset as usize)?;
    bytes.get(start..)?.get(..size as usize)
}

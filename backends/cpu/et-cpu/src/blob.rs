//! The blob of a partition: a header, slots, instructions, what depends on dynamic sizes, and constants that are used where they
//! lie.
//!
//! All numbers are little-endian words. Constants begin at a multiple of 64 bytes, each of them too, so that a mapped file
//! needs no copy.

use et_core::{Args, Error, Result};
use et_record::{Record, Words, records};

use crate::Instruction;
use crate::sizes::{SHAPE_WORDS, Sizes, resize_outputs};

/// `ETCP`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"ETCP");

/// The version of the blob format.
pub const VERSION: u32 = 8;

/// What constants are aligned to, in bytes: a cache line.
pub const ALIGNMENT: usize = 64;

records! {
    /// The beginning of a blob.
    pub struct Header {
        /// [`MAGIC`].
        pub magic: u32,
        /// [`VERSION`].
        pub version: u32,
        /// The number of the architecture ([`et_gemm::Architecture::number`]) whose ISAs read the packed weights.
        pub architecture: u32,
        /// The number of inputs of a call.
        pub inputs: u32,
        /// The number of results of a call.
        pub outputs: u32,
        /// The number of [`Slot`]s.
        pub slots: u32,
        /// The number of instructions.
        pub instructions: u32,
        /// Words of all instructions together.
        pub words: u32,
        /// Bytes of memory during a call.
        pub scratch: u64,
        /// Where in that memory the threads' own begins.
        pub workspaces: u64,
        /// Bytes of a thread's own memory.
        pub workspace: u64,
        /// The threads that there is memory for.
        pub threads: u32,
        /// Where the constants begin.
        pub constants: u64,
        /// The number of [`crate::OutputShape`]s: of outputs where a size is dynamic, else 0.
        pub shapes: u32,
        /// The number of [`crate::Variable`]s.
        pub variables: u32,
        /// The number of [`crate::Quantity`]s.
        pub quantities: u32,
        /// The number of [`crate::Formula`]s.
        pub formulas: u32,
        /// Where in the memory of a call the words with the values of formulas are, before the workspaces.
        pub words_of_call: u64,
    }

    /// Memory that operands lie in.
    pub struct Slot {
        /// The number of a [`SlotKind`].
        pub kind: u32,
        /// The argument's position, or bytes from the beginning of scratch or constants.
        pub start: u64,
        /// Bytes.
        pub size: u64,
    }
}

/// Where the memory of a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// An input of the call.
    Input,
    /// A result of the call.
    Output,
    /// Memory that the call is given.
    Scratch,
    /// The blob.
    Constant,
}

impl SlotKind {
    const ALL: [Self; 4] = [Self::Input, Self::Output, Self::Scratch, Self::Constant];

    /// The kind with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}

/// A blob whose parts have been found; its instructions are checked as they are read.
#[derive(Clone, Copy, Debug)]
pub struct Blob<'a> {
    header: Header,
    /// Slots, instructions and output shapes.
    words: Words<'a>,
    sizes: Sizes<'a>,
    constants: &'a [u8],
}

/// Words of a slot.
const SLOT_WORDS: usize = 5;

impl<'a> Blob<'a> {
    /// Finds the parts of a blob that can be executed where it lies.
    ///
    /// # Errors
    /// As [`Blob::read`]; [`Error::InvalidProgram`] where constants are not aligned.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let blob = Self::read(bytes)?;
        let is_aligned = blob.constants.is_empty() || blob.constants.as_ptr().addr() % ALIGNMENT == 0;
        if is_aligned { Ok(blob) } else { Err(Error::InvalidProgram) }
    }

    /// Finds the parts.
    ///
    /// # Errors
    /// [`Error::DelegateInvalidCompatibility`] for other bytes, [`Error::InvalidProgram`] for parts that are not there.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut words = Words::new(bytes);
        let header = Header::read(&mut words).ok_or(Error::InvalidProgram)?;
        if (header.magic, header.version) != (MAGIC, VERSION) {
            return Err(Error::DelegateInvalidCompatibility);
        }
        let sections = sections(&header).and_then(|[slots, instructions, shapes]| {
            words.take(slots.checked_add(instructions)?.checked_add(shapes)?)
        });
        let sizes = Sizes::take(&mut words, [header.variables, header.quantities, header.formulas]);
        let start = usize::try_from(header.constants).map_err(|_| Error::InvalidProgram)?;
        match (sections, sizes, bytes.get(start..)) {
            (Some(words), Some(sizes), Some(constants)) if start % ALIGNMENT == 0 => {
                Ok(Self { header, words, sizes, constants })
            }
            _ => Err(Error::InvalidProgram),
        }
    }

    /// Whether words depend on the sizes of the inputs.
    pub const fn has_dynamic_sizes(&self) -> bool {
        self.header.formulas > 0
    }

    /// The number of words that a call with dynamic sizes writes.
    pub(crate) const fn words_of_call(&self) -> usize {
        self.words.len()
    }

    /// The blob for the sizes of a call's inputs, and the outputs resized. The words of the call are written to `memory`, which has
    /// [`Blob::words_of_call`] words.
    pub(crate) fn sized<'c>(self, arguments: &Args<'_, '_>, memory: &'c mut [[u8; 4]]) -> Result<Blob<'c>>
    where
        'a: 'c,
    {
        let [slots, instructions, _] = sections(&self.header).ok_or(Error::InvalidProgram)?;
        memory.copy_from_slice(self.words.bytes());
        self.sizes.write(arguments, memory)?;
        let words = Words::new(memory.as_flattened());
        let mut shapes = words;
        shapes.take(slots + instructions).ok_or(Error::InvalidProgram)?;
        resize_outputs(shapes, self.header.inputs as usize, arguments)?;
        Ok(Blob { words, ..self })
    }

    /// The header.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Slot `index`.
    ///
    /// # Errors
    /// [`Error::InvalidProgram`] for a number without a slot.
    pub fn slot(&self, index: u32) -> Result<(SlotKind, Slot)> {
        let mut words = self.words;
        let known = Some(index as usize).filter(|_| index < self.header.slots);
        let skipped = known.and_then(|index| words.take(index.checked_mul(SLOT_WORDS)?));
        let slot = skipped.and_then(|_| Slot::read(&mut words)).ok_or(Error::InvalidProgram)?;
        Ok((SlotKind::from_number(slot.kind).ok_or(Error::InvalidProgram)?, slot))
    }

    /// The instructions in their order.
    pub fn instructions(&self) -> impl Iterator<Item = Result<Instruction>> + use<'a> {
        let mut words = self.words;
        let counts = sections(&self.header);
        let taken =
            counts.and_then(|[slots, instructions, _]| words.take(slots).and_then(|_| words.take(instructions)));
        let mut words = taken.unwrap_or(Words::new(&[]));
        (0..self.header.instructions).map(move |_| Instruction::read(&mut words).ok_or(Error::InvalidProgram))
    }

    /// The bytes that constant slots are parts of.
    pub const fn constants(&self) -> &'a [u8] {
        self.constants
    }
}

/// The words of the slots, the instructions and the output shapes.
fn sections(header: &Header) -> Option<[usize; 3]> {
    let slots = (header.slots as usize).checked_mul(SLOT_WORDS)?;
    Some([slots, header.words as usize, (header.shapes as usize).checked_mul(SHAPE_WORDS)?])
}

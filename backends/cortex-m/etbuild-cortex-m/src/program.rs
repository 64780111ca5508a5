//! A partition as device instructions: buffers, constants and instructions in order.

mod patches;
mod rows;
mod steps;

use et_cortex_m::{ALIGNMENT, Convolution, Header, Instruction, MAGIC, Place, Row, VERSION};
use et_record::Record;
use etbuild_backend::{Blob, DeviceReport};

use steps::Steps;
pub use steps::Storage;

/// The number of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer(pub usize);

/// A program under construction. Until [`Program::finish`], the argument of a place is the number of a buffer.
#[derive(Default)]
pub struct Program {
    constants: Vec<u8>,
    steps: Steps,
}

impl Program {
    /// Adds a buffer.
    pub fn buffer(&mut self, storage: Storage) -> Buffer {
        self.steps.buffers.push(storage);
        Buffer(self.steps.buffers.len() - 1)
    }

    /// Adds constants and returns their offset. Equal constants are stored once.
    pub fn constant(&mut self, bytes: &[u8]) -> u32 {
        let known = self.constants.windows(bytes.len().max(1)).step_by(ALIGNMENT).position(|window| window == bytes);
        if let Some(position) = known {
            return (position * ALIGNMENT) as u32;
        }
        let start = self.constants.len();
        self.constants.extend_from_slice(bytes);
        self.constants.resize(self.constants.len().next_multiple_of(ALIGNMENT), 0);
        start as u32
    }

    /// Adds records as constants.
    pub fn records<T: Record>(&mut self, records: &[T]) -> u32 {
        let mut bytes = Vec::new();
        records.iter().for_each(|record| record.write(&mut |word| bytes.extend_from_slice(&word.to_le_bytes())));
        self.constant(&bytes)
    }

    /// Adds an instruction that computes the value `layer`.
    pub fn emit(&mut self, instruction: impl Into<Instruction>, layer: &str) {
        self.steps.push(instruction.into(), layer);
    }

    /// The last instruction, if it is a convolution whose result lies in a buffer.
    pub fn last_convolution(&self, output: Buffer) -> Option<Convolution> {
        match self.steps.instructions.last() {
            Some(Instruction::Convolution(step)) if step.output == output.place() => Some(*step),
            _ => None,
        }
    }

    /// Removes the last instruction.
    pub fn remove_last(&mut self) {
        self.steps.instructions.pop();
        self.steps.layers.pop();
    }

    /// Whether a buffer is scratch.
    pub fn is_scratch(&self, buffer: Buffer) -> bool {
        self.steps.is_scratch(buffer.0)
    }

    /// The blob, with the memory plan of the scratch. Where the scratch would take more than `most` bytes, layers are computed in patches.
    pub fn finish(self, row: Row, arguments: u32, most: Option<usize>) -> Blob {
        let Self { constants, steps } = self;
        let (mut steps, patches) = steps.within(most.unwrap_or(usize::MAX));
        let plan = steps.plan(arguments);
        let places = plan.places;
        let mut words = Vec::new();
        for instruction in &mut steps.instructions {
            instruction.visit(&mut |operand| {
                let place = places[*operand.memory as usize];
                *operand.memory = place.argument;
                operand.offset.into_iter().for_each(|offset| *offset += place.offset);
            });
            instruction.write(&mut |word| words.push(word));
        }
        let mut header = Header { magic: MAGIC, version: VERSION, row: row.number(), arguments, ..Header::default() };
        (header.scratch, header.words) = (plan.scratch as u32, words.len() as u32);
        let mut bytes = Vec::new();
        let mut put = |word: u32| bytes.extend_from_slice(&word.to_le_bytes());
        let mut length = 0;
        header.write(&mut |_| length += 4);
        header.constants = (length + 4 * words.len()).next_multiple_of(ALIGNMENT) as u32;
        header.write(&mut put);
        words.into_iter().for_each(put);
        bytes.resize(header.constants as usize, 0);
        bytes.extend_from_slice(&constants);
        let layers = steps.layers.iter().map(|layer| layer.to_string()).collect();
        let device = DeviceReport { patches, ..DeviceReport::default() };
        Blob { bytes, scratch: plan.scratch, layers: vec![layers], device, ..Blob::default() }
    }
}

impl Buffer {
    /// The place of the buffer until the program is finished.
    pub const fn place(self) -> Place {
        Place { argument: self.0 as u32, offset: 0 }
    }
}

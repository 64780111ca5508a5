//! What a chain of operations is made of, and whether it fits its tensors.

use et_core::{Error, Result};

use super::Operation;
use crate::check::ensure;

/// One operation on values that are there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction {
    /// What it computes.
    pub operation: Operation,
    /// Of what. Those beyond [`Operation::operand_count`] are ignored.
    pub operands: [Operand; 3],
    /// The register that gets the result. The result of the last instruction is the output instead.
    pub target: u8,
}

/// Where an operand of an instruction comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// An input of the program, by its index.
    Source(u8),
    /// The result of an earlier instruction, by its register.
    Register(u8),
    /// A number.
    Constant(f32),
}

/// An input of a program.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// As many elements as the output has.
    Tensor(&'a [f32]),
    /// What the output holds before. Only where the output is `f32`.
    Output,
    /// One element for each column, the same in all rows.
    Columns(&'a [f32]),
    /// One element for each row, the same in all columns.
    Rows(&'a [f32]),
    /// As many bytes as the output has elements: element = `scale * (byte - zero_point)`.
    Bytes {
        /// The quantized elements.
        bytes: &'a [i8],
        /// The distance between two of them.
        scale: f32,
        /// The one that is 0.
        zero_point: i32,
    },
}

/// Where the results of a program go.
#[derive(Debug)]
pub enum Output<'a> {
    /// As they are.
    Floats(&'a mut [f32]),
    /// Quantized: byte = `round(element / scale) + zero_point`, the nearest byte where that does not fit.
    Bytes {
        /// The quantized elements.
        bytes: &'a mut [i8],
        /// The distance between two of them.
        scale: f32,
        /// The one that is 0.
        zero_point: i32,
    },
}

impl Output<'_> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Floats(floats) => floats.len(),
            Self::Bytes { bytes, .. } => bytes.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Instructions and their inputs: rows of `columns` elements each.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// In the order of execution. The last one computes the output.
    pub instructions: &'a [Instruction],
    /// What [`Operand::Source`] means, at most [`Program::MOST_SOURCES`].
    pub sources: &'a [Source<'a>],
    /// The elements of a row, at least 1; the channels of a channels-last tensor.
    pub columns: usize,
}

impl Program<'_> {
    /// The most inputs.
    pub const MOST_SOURCES: usize = 16;

    /// The number of registers that the instructions write.
    pub fn registers(instructions: &[Instruction]) -> usize {
        let written = instructions.split_last().map_or(&[][..], |(_, rest)| rest);
        written.iter().map(|instruction| usize::from(instruction.target) + 1).max().unwrap_or(0)
    }

    /// An error unless the instructions name what there is, and the sources have the output's size.
    pub(super) fn check(&self, output: &Output) -> Result<()> {
        ensure(!self.instructions.is_empty() && self.sources.len() <= Self::MOST_SOURCES && self.columns > 0)?;
        ensure(output.len().is_multiple_of(self.columns))?;
        let rows = output.len() / self.columns;
        self.sources.iter().try_for_each(|source| ensure(self.fits(source, output, rows)))?;
        let registers = Self::registers(self.instructions);
        self.instructions.iter().try_for_each(|instruction| self.check_instruction(instruction, registers))
    }

    fn fits(&self, source: &Source, output: &Output, rows: usize) -> bool {
        match source {
            Source::Tensor(tensor) => tensor.len() == output.len(),
            Source::Output => matches!(output, Output::Floats(_)),
            Source::Columns(columns) => columns.len() == self.columns,
            Source::Rows(numbers) => numbers.len() == rows,
            Source::Bytes { bytes, .. } => bytes.len() == output.len(),
        }
    }

    fn check_instruction(&self, instruction: &Instruction, registers: usize) -> Result<()> {
        let operands = instruction.operands.iter().take(instruction.operation.operand_count());
        let is_there = |operand: &Operand| match *operand {
            Operand::Source(index) => usize::from(index) < self.sources.len(),
            Operand::Register(index) => usize::from(index) < registers,
            Operand::Constant(_) => true,
        };
        if operands.into_iter().all(is_there) { Ok(()) } else { Err(Error::InvalidArgument) }
    }
}

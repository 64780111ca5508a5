//! The representation of elementwise programs, and validation against the tensors.

use et_core::{Error, Result};

use super::Operation;
use crate::check::ensure;

/// An operation on sources, registers and constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction {
    /// The operation.
    pub operation: Operation,
    /// The operands. Operands beyond [`Operation::operand_count`] are ignored.
    pub operands: [Operand; 3],
    /// The destination register. The last instruction writes the output instead.
    pub target: u8,
}

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// A source of the program, by index.
    Source(u8),
    /// The result of an earlier instruction, by register.
    Register(u8),
    /// A constant.
    Constant(f32),
}

/// A source of a program.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// An `f32` tensor of the output's size.
    Tensor(&'a [f32]),
    /// An element per column, broadcast over the rows.
    Columns(&'a [f32]),
    /// An element per row, broadcast over the columns.
    Rows(&'a [f32]),
    /// An int8 tensor of the output's size, dequantized by `scale * (byte - zero_point)`.
    Bytes {
        /// The quantized elements.
        bytes: &'a [i8],
        /// The scale.
        scale: f32,
        /// The zero point.
        zero_point: i32,
    },
}

/// The output of a program.
#[derive(Debug)]
pub enum Output<'a> {
    /// An `f32` tensor.
    Floats(&'a mut [f32]),
    /// An int8 tensor, quantized by `round(element / scale) + zero_point`, saturating.
    Bytes {
        /// The quantized elements.
        bytes: &'a mut [i8],
        /// The scale.
        scale: f32,
        /// The zero point.
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

    /// Whether the output has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Instructions and sources, as rows of `columns` elements.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// The instructions in execution order. The last instruction computes the output.
    pub instructions: &'a [Instruction],
    /// The sources that [`Operand::Source`] indexes, at most [`Program::MOST_SOURCES`].
    pub sources: &'a [Source<'a>],
    /// Elements per row, at least 1; the channels of an NHWC tensor.
    pub columns: usize,
}

impl Program<'_> {
    /// The maximum number of sources.
    pub const MOST_SOURCES: usize = 16;

    /// The number of registers that the instructions write.
    pub fn registers(instructions: &[Instruction]) -> usize {
        let written = instructions.split_last().map_or(&[][..], |(_, rest)| rest);
        written.iter().map(|instruction| usize::from(instruction.target) + 1).max().unwrap_or(0)
    }

    /// Fails unless every operand refers to an existing source or register and the sources match the output's size.
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

//! Runs elementwise programs, block by block.
#![allow(unsafe_code)] // Reads and writes through pointers; sizes are checked once for a program.

use et_core::Result;
use et_simd::{Level, Simd, Work};

use super::operation::Stream;
use super::{Operand, Output, Program, Source};
use crate::check::ensure;

/// The maximum elements per block. Eight blocks take half of L1.
const BLOCK: usize = 512;
/// Spare scratch elements for the alignment to a cache line.
const ALIGNMENT: usize = 16;

/// The scratch memory that [`run`] needs, in elements.
pub fn scratch(program: &Program) -> usize {
    (Program::registers(program.instructions) + program.sources.len() + 1) * BLOCK + ALIGNMENT
}

/// Computes the output. The slices start at a row boundary: threads take disjoint ranges of rows.
#[inline]
pub fn run(level: Level, program: &Program, output: Output, scratch: &mut [f32]) -> Result<()> {
    program.check(&output)?;
    ensure(scratch.len() >= self::scratch(program))?;
    if !output.is_empty() {
        let skip = scratch.as_ptr().align_offset(64).min(ALIGNMENT);
        level.run(Run { program, output, scratch: scratch[skip..].as_mut_ptr() });
    }
    Ok(())
}

/// A validated program with a non-empty output.
struct Run<'a> {
    program: &'a Program<'a>,
    output: Output<'a>,
    scratch: *mut f32,
}

impl Work for Run<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, isa: S) {
        let (columns, count) = (self.program.columns, self.output.len());
        let registers = Program::registers(self.program.instructions);
        // A block has whole rows, or a part of a single row.
        let (line, block) = if columns > BLOCK { (columns, BLOCK) } else { (count, BLOCK / columns * columns) };
        // SAFETY: `scratch` returned room for the registers, the sources and the result before quantization.
        let (sources, result) = unsafe {
            let sources = self.scratch.add(registers * BLOCK);
            (sources, sources.add(self.program.sources.len() * BLOCK))
        };
        self.prepare(sources, block);
        for first in (0..count).step_by(line) {
            for at in (first..first + line).step_by(block) {
                let length = block.min(first + line - at);
                let mut inputs = [core::ptr::null::<f32>(); Program::MOST_SOURCES];
                for (index, (input, source)) in inputs.iter_mut().zip(self.program.sources).enumerate() {
                    // SAFETY: each source has a block of scratch memory, and the block is within the output.
                    *input = unsafe { self.input(isa, source, sources.add(index * BLOCK), at, length) };
                }
                // SAFETY: the block is within the output.
                unsafe { self.compute(isa, &inputs, result, at, length) };
            }
        }
    }
}

impl Run<'_> {
    /// Repeats short rows of [`Source::Columns`] to fill a block.
    #[inline(always)]
    fn prepare(&self, scratch: *mut f32, block: usize) {
        for (index, source) in self.program.sources.iter().enumerate() {
            let Source::Columns(columns) = source else { continue };
            if columns.len() > BLOCK {
                continue;
            }
            for row in 0..block.min(self.output.len()) / columns.len() {
                // SAFETY: every source has a block of scratch memory, which has that many rows.
                unsafe {
                    let to = scratch.add(index * BLOCK + row * columns.len());
                    columns.as_ptr().copy_to_nonoverlapping(to, columns.len());
                }
            }
        }
    }

    /// The elements of a source for a block: the source's memory, or a copy in scratch memory.
    ///
    /// # Safety
    /// The block is within the output, and `scratch` has room for a block.
    #[inline(always)]
    unsafe fn input<S: Simd>(
        &self,
        isa: S,
        source: &Source,
        scratch: *mut f32,
        at: usize,
        length: usize,
    ) -> *const f32 {
        // SAFETY: `check` validated the length of each source against the output, the rows or the columns.
        unsafe {
            match *source {
                Source::Tensor(tensor) => return tensor.as_ptr().add(at),
                Source::Columns(columns) if columns.len() > BLOCK => return columns.as_ptr().add(at % columns.len()),
                Source::Columns(_) => {}
                Source::Rows(rows) => self.spread(rows, scratch, at, length),
                Source::Bytes { bytes, scale, zero_point } => {
                    let bytes = bytes.get_unchecked(at..at + length);
                    let to = core::slice::from_raw_parts_mut(scratch, length);
                    crate::quantized::dequantize_block(isa, bytes, scale, zero_point, to);
                }
            }
        }
        scratch
    }

    /// Broadcasts the element of each row over the row's columns in the block.
    ///
    /// # Safety
    /// As for [`Self::input`].
    #[inline(always)]
    unsafe fn spread(&self, rows: &[f32], to: *mut f32, at: usize, length: usize) {
        let columns = self.program.columns;
        for index in (0..length).step_by(columns) {
            // SAFETY: `check` validated an element per output row.
            unsafe {
                let number = *rows.get_unchecked((at + index) / columns);
                core::slice::from_raw_parts_mut(to.add(index), columns.min(length - index)).fill(number);
            }
        }
    }

    /// Executes the instructions on a block.
    ///
    /// # Safety
    /// The block is within the output, and each input has the block's length.
    #[inline(always)]
    unsafe fn compute<S: Simd>(
        &mut self,
        isa: S,
        inputs: &[*const f32; Program::MOST_SOURCES],
        result: *mut f32,
        at: usize,
        length: usize,
    ) {
        let last = self.program.instructions.len() - 1;
        for (index, instruction) in self.program.instructions.iter().enumerate() {
            let mut constants = [[0.0; 16]; 3];
            let mut streams = [Stream::repeated(&[0.0; 16]); 3];
            let operands = instruction.operands.iter().take(instruction.operation.operand_count());
            for ((stream, operand), constant) in streams.iter_mut().zip(operands).zip(&mut constants) {
                *stream = match *operand {
                    Operand::Source(index) => Stream::elements(inputs[usize::from(index) % inputs.len()]),
                    Operand::Register(index) => {
                        // SAFETY: `check` validated the register, which has a block of scratch memory.
                        Stream::elements(unsafe { self.scratch.add(usize::from(index) * BLOCK) })
                    }
                    Operand::Constant(number) => {
                        *constant = [number; 16];
                        Stream::repeated(constant)
                    }
                };
            }
            // SAFETY: the caller guarantees a block of the output; registers and result have a block of scratch memory.
            unsafe {
                let to = match &mut self.output {
                    _ if index < last => self.scratch.add(usize::from(instruction.target) * BLOCK),
                    Output::Floats(floats) => floats.as_mut_ptr().add(at),
                    Output::Bytes { .. } => result,
                };
                instruction.operation.compute(isa, streams, to, length);
            }
        }
        if let Output::Bytes { bytes, scale, zero_point } = &mut self.output {
            // SAFETY: the caller guarantees a block of the output, and the result holds a block.
            unsafe {
                let from = core::slice::from_raw_parts(result, length);
                let to = bytes.get_unchecked_mut(at..at + length);
                crate::quantized::quantize_block(isa, from, *scale, *zero_point, to);
            }
        }
    }
}

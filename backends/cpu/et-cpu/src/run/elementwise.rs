//! Fused chains of element-wise operators.

use core::array;
use core::ops::Range;

use et_core::{Error, Result};
use et_kernels::elementwise::{self, Instruction, Operand, Output, Program, Source};
use et_simd::Level;

use crate::memory::Operands;
use crate::run::attention::numbers;
use crate::split::{self, Context};
use crate::{Elementwise, QParams, Step, Stream, Term};

/// The minimum elements of a task.
const LEAST: usize = 1 << 14;
/// The maximum operators of a chain.
const STEPS: usize = 12;
/// The maximum tensor operands of a chain.
const STREAMS: usize = 6;

/// Executes the instruction. Where every operand is a full tensor, or broadcast over all rows or columns, a kernel call computes
/// many rows; otherwise each row is a kernel call.
pub fn run(context: &Context<'_, '_, '_>, fields: &Elementwise) -> Result<()> {
    let sizes = fields.sizes.map(|size| size as usize);
    let (count, columns) = (split::count(&sizes)?, sizes[3]);
    let (streams, steps) = (fields.stream_count as usize, fields.step_count as usize);
    let used = fields.streams.get(..streams).ok_or(Error::InvalidProgram)?;
    let made: [Instruction; STEPS] = array::from_fn(|index| instruction(&fields.steps, index, streams));
    let made = made.get(..steps).ok_or(Error::InvalidProgram)?;
    let mut operands = context.memory.operands();
    let mut elements = [Elements::Floats(&[]); STREAMS];
    for (elements, stream) in elements.iter_mut().zip(used) {
        let span = split::span(sizes, stream.strides.map(|stride| stride as usize))?;
        *elements = Elements::of(&mut operands, stream, span)?;
    }
    if columns == 0 {
        return Err(Error::InvalidProgram);
    }
    let job = Job { streams: used, elements: &elements, instructions: made, sizes, level: context.level };
    let least = LEAST / columns;
    let QParams { scale, zero_point } = fields.qparams;
    if fields.qparams.is_int8() {
        let output = operands.write::<i8>(*fields.output, count)?;
        split::runs(context, output, columns, least, |rows, bytes, workspace| {
            job.run(rows, Output::Bytes { bytes, scale, zero_point }, numbers(workspace))
        })
    } else {
        let output = operands.write::<f32>(*fields.output, count)?;
        split::runs(context, output, columns, least, |rows, floats, workspace| {
            job.run(rows, Output::Floats(floats), numbers(workspace))
        })
    }
}

/// The elements of a tensor operand.
#[derive(Clone, Copy)]
enum Elements<'m> {
    Floats(&'m [f32]),
    Bytes(&'m [i8], QParams),
}

impl<'m> Elements<'m> {
    fn of(operands: &mut Operands<'m, '_, '_>, stream: &Stream, count: usize) -> Result<Self> {
        Ok(match stream.qparams.is_int8() {
            true => Self::Bytes(operands.read(stream.place, count)?, stream.qparams),
            false => Self::Floats(operands.read(stream.place, count)?),
        })
    }
}

/// A fused chain with its tensor operands.
struct Job<'j> {
    streams: &'j [Stream],
    elements: &'j [Elements<'j>; STREAMS],
    instructions: &'j [Instruction],
    sizes: [usize; 4],
    level: Level,
}

impl Job<'_> {
    /// Computes a range of rows.
    fn run(&self, rows: Range<usize>, mut output: Output<'_>, scratch: &mut [f32]) -> Result<()> {
        let columns = self.sizes[3];
        for block in blocks(rows, rows_together(self.streams, self.sizes)) {
            let sources: [Source<'_>; STREAMS] =
                array::from_fn(|index| source(self.streams.get(index), self.elements[index], self.sizes, &block));
            let sources = sources.get(..self.streams.len()).ok_or(Error::InvalidProgram)?;
            let program = Program { instructions: self.instructions, sources, columns };
            let part = front(&mut output, block.len() * columns).ok_or(Error::InvalidProgram)?;
            elementwise::run(self.level, &program, part, scratch)?;
        }
        Ok(())
    }
}

/// Splits the first `count` elements off the output.
fn front<'o>(output: &mut Output<'o>, count: usize) -> Option<Output<'o>> {
    match output {
        Output::Floats(floats) => Some(Output::Floats(floats.split_off_mut(..count)?)),
        Output::Bytes { bytes, scale, zero_point } => {
            Some(Output::Bytes { bytes: bytes.split_off_mut(..count)?, scale: *scale, zero_point: *zero_point })
        }
    }
}

/// The workspace size per thread, in bytes.
pub fn workspace(fields: &Elementwise) -> usize {
    let streams = fields.stream_count as usize;
    let made: [Instruction; STEPS] = array::from_fn(|index| instruction(&fields.steps, index, streams));
    let sources = [Source::Tensor(&[]); STREAMS];
    let (Some(instructions), Some(sources)) = (made.get(..fields.step_count as usize), sources.get(..streams)) else {
        return 0;
    };
    elementwise::scratch(&Program { instructions, sources, columns: 1 }) * size_of::<f32>() + size_of::<f32>()
}

/// The number of neighbouring rows per kernel call: all rows below the dimension where the broadcast of an operand is no
/// [`Source`].
fn rows_together(streams: &[Stream], sizes: [usize; 4]) -> usize {
    let mut together = sizes[2];
    if !streams.iter().all(|stream| is_simple(stream, sizes)) {
        return 1;
    }
    for dim in [1, 0] {
        let joins = |stream: &Stream| stream.strides[dim] as usize == stream.strides[dim + 1] as usize * sizes[dim + 1];
        if sizes[dim] > 1 && !streams.iter().all(joins) {
            break;
        }
        together *= sizes[dim];
    }
    together.max(1)
}

/// Whether the two innermost dimensions are a full tensor, or broadcast over the rows or the columns.
fn is_simple(stream: &Stream, sizes: [usize; 4]) -> bool {
    let [_, _, rows, columns] = stream.strides.map(|stride| stride as usize);
    sizes[2] == 1 || matches!((rows, columns), (1, 0) | (0, 1)) || (rows, columns) == (sizes[3], 1)
}

/// Ranges of at most `length` rows that do not cross a multiple of `length`.
fn blocks(rows: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = rows.start;
    core::iter::from_fn(move || {
        let end = ((start / length + 1) * length).min(rows.end);
        let block = start..end;
        start = end;
        (!block.is_empty()).then_some(block)
    })
}

/// The kernel operand of a stream for a range of rows.
fn source<'m>(stream: Option<&Stream>, elements: Elements<'m>, sizes: [usize; 4], rows: &Range<usize>) -> Source<'m> {
    let Some(stream) = stream else { return Source::Tensor(&[]) };
    let strides = stream.strides.map(|stride| stride as usize);
    let start = start(strides, sizes, rows.start);
    let elements = match elements {
        Elements::Floats(floats) => floats,
        Elements::Bytes(bytes, QParams { scale, zero_point }) => {
            let bytes = bytes.get(start..start + rows.len() * sizes[3]).unwrap_or(&[]);
            return Source::Bytes { bytes, scale, zero_point };
        }
    };
    let part = |length: usize| elements.get(start..start + length).unwrap_or(&[]);
    match (strides[2], strides[3]) {
        (_, 1) if rows.len() == 1 => Source::Columns(part(sizes[3])),
        (0, 1) => Source::Columns(part(sizes[3])),
        (_, 1) => Source::Tensor(part(rows.len() * sizes[3])),
        (_, _) => Source::Rows(part(rows.len())),
    }
}

/// The element offset of a row.
fn start(strides: [usize; 4], sizes: [usize; 4], row: usize) -> usize {
    let outer = row / sizes[2].max(1);
    let indices = [outer / sizes[1].max(1), outer % sizes[1].max(1), row % sizes[2].max(1)];
    indices.into_iter().zip(strides).map(|(index, stride)| index * stride).sum()
}

/// A step as the kernel's instruction: registers below `streams` are tensor operands.
fn instruction(steps: &[Step], index: usize, streams: usize) -> Instruction {
    let step = steps.get(index).copied().unwrap_or_default();
    let operand = |term: Term| match (term.kind, term.bits as usize) {
        (0, register) if register < streams => Operand::Source(register as u8),
        (0, register) => Operand::Register((register - streams) as u8),
        _ => Operand::Constant(f32::from_bits(term.bits)),
    };
    Instruction { operation: step.operation.0, operands: step.terms.map(operand), target: index as u8 }
}

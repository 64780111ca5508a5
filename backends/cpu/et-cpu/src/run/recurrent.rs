//! Recurrent layers: a GEMM and the functions of the gates for each time step.
#![allow(unsafe_code, reason = "tasks write the states and outputs of disjoint sequences")]

use et_core::{Error, Result};
use et_gemm::Isa;
use et_kernels::recurrent_cell::{Cell, Gates, step};

use crate::run::conv2d;
use crate::split::{self, Chunks, Context, Elements, are_apart, count, span};
use crate::{RecurrentCell, RecurrentLayer, SequenceStrides};

/// The minimum gates of a task.
const LEAST: usize = 1 << 12;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &RecurrentLayer) -> Result<()> {
    let layer = Layer::of(fields)?;
    layer.begin(context)?;
    (0..layer.steps).try_for_each(|done| {
        conv2d::run(context, &fields.gemm)?;
        layer.step(context, if fields.is_reversed { layer.steps - 1 - done } else { done })
    })
}

/// The workspace size per thread, in bytes; `packed` is the size of the packed weights.
pub fn workspace(fields: &RecurrentLayer, isa: Isa, packed: usize) -> usize {
    conv2d::workspace(&fields.gemm, isa, packed)
}

/// The sizes of an instruction.
struct Layer<'f> {
    fields: &'f RecurrentLayer,
    cell: Cell,
    steps: usize,
    batch: usize,
    units: usize,
    /// Gates of all units.
    gates: usize,
    /// Elements of a state of all sequences.
    state: usize,
    /// Elements that the sums over the inputs span, and those that the outputs span.
    spans: [usize; 2],
}

impl<'f> Layer<'f> {
    /// Fails for rows that overlap, so that the memory bounds the number of steps.
    fn of(fields: &'f RecurrentLayer) -> Result<Self> {
        let cell = match fields.cell {
            RecurrentCell::Lstm => Cell::Lstm,
            RecurrentCell::Gru => Cell::Gru,
            RecurrentCell::Tanh => Cell::Tanh,
            RecurrentCell::Relu => Cell::Relu,
        };
        let [steps, batch, units] = [fields.steps, fields.batch, fields.units].map(|size| size as usize);
        let gates = count(&[cell.gates(), units])?;
        let of = |strides: &SequenceStrides, width: usize| {
            let (sizes, strides) = ([steps, batch, width], [strides.step as usize, strides.sequence as usize, 1]);
            let is_apart = are_apart([0, 1, 2].map(|dim| (sizes[dim], strides[dim])));
            if is_apart { span(sizes, strides) } else { Err(Error::InvalidProgram) }
        };
        let spans = [of(&fields.input_strides, gates)?, of(&fields.output_strides, units)?];
        if [steps, batch, units].contains(&0) {
            return Err(Error::InvalidProgram);
        }
        Ok(Self { fields, cell, steps, batch, units, gates, state: count(&[batch, units])?, spans })
    }

    /// Copies the states ahead of the first step.
    fn begin(&self, context: &Context<'_, '_, '_>) -> Result<()> {
        let RecurrentLayer { hidden_before, hidden, cells_before, cells, .. } = self.fields;
        let hidden = (hidden_before, hidden);
        let cells = (self.cell == Cell::Lstm).then_some((cells_before, cells));
        [Some(hidden), cells].into_iter().flatten().try_for_each(|(before, state)| {
            let mut operands = context.memory.operands();
            let before = operands.read::<f32>(*before, self.state)?;
            operands.write::<f32>(**state, self.state)?.slice().copy_from_slice(before);
            Ok(())
        })
    }

    /// Steps the states of all sequences by the gates of a time step.
    fn step(&self, context: &Context<'_, '_, '_>, time: usize) -> Result<()> {
        let Self { fields, cell, batch, units, gates, .. } = *self;
        let mut operands = context.memory.operands();
        let inputs = operands.read::<f32>(fields.inputs, self.spans[0])?;
        let sums = operands.read::<f32>(fields.gemm.output.place, count(&[batch, gates])?)?;
        let hidden = Elements::new(&operands.write::<f32>(*fields.hidden, self.state)?);
        let states = if cell == Cell::Lstm { units } else { 0 };
        let cells = match cell {
            Cell::Lstm => Some(Elements::new(&operands.write::<f32>(*fields.cells, self.state)?)),
            _ => None,
        };
        let output = Elements::new(&operands.write::<f32>(*fields.output, self.spans[1])?);
        let start = |strides: &SequenceStrides, sequence: usize| {
            time * strides.step as usize + sequence * strides.sequence as usize
        };
        let (level, least) = (context.level, LEAST / gates.max(1) + 1);
        split::tasks(context, Chunks::new(context, batch, least), |chunk| {
            chunk.range(batch).try_for_each(|sequence| {
                let first = start(&fields.input_strides, sequence);
                let gates = Gates {
                    inputs: inputs.get(first..first + gates).ok_or(Error::InvalidProgram)?,
                    hidden: &sums[sequence * gates..(sequence + 1) * gates],
                };
                let (own, to) = (sequence * units..(sequence + 1) * units, start(&fields.output_strides, sequence));
                // SAFETY: tasks have disjoint sequences, whose rows are apart and within the operands, which are accessed here alone.
                let (hidden, cells, output) = unsafe {
                    let cells = cells.as_ref().map_or(&mut [][..], |cells| cells.part(own.start..own.start + states));
                    (hidden.part(own), cells, output.part(to..to + units))
                };
                step(level, cell, gates, hidden, cells)?;
                output.copy_from_slice(hidden);
                Ok(())
            })
        })
    }
}

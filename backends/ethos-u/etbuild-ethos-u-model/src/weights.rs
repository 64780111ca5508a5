//! Weights: compressed streams, in the order in which the NPU multiplies.

mod bits;
mod decode;
mod order;
mod order_u85;

pub use decode::decode;

use crate::fault::Problem;
use crate::kernel::Kernel;
use crate::machine::Machine;
use crate::memory::Place;
use crate::npu::Series;
use crate::registers::name::{self, Register};
use order::Order;
use order_u85::OrderU85;

/// The sizes of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Output channels.
    pub outputs: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// Input channels; 1 for a depthwise convolution.
    pub inputs: usize,
}

/// Weights by output channel, row, column and input channel.
#[derive(Debug, PartialEq, Eq)]
pub struct Weights {
    shape: Shape,
    values: Vec<i16>,
}

/// A weight's place.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The output channel.
    pub output: usize,
    /// The row.
    pub y: usize,
    /// The column.
    pub x: usize,
    /// The input channel.
    pub input: usize,
}

impl Weights {
    /// The weights of all input channels at an element of the kernel.
    pub fn inputs(&self, output: usize, y: usize, x: usize) -> &[i16] {
        let start = self.index(Position { output, y, x, input: 0 });
        self.values.get(start..start + self.shape.inputs).unwrap_or_default()
    }

    const fn index(&self, Position { output, y, x, input }: Position) -> usize {
        ((output * self.shape.height + y) * self.shape.width + x) * self.shape.inputs + input
    }
}

/// Puts the weights of a stream to their places.
#[derive(Debug)]
pub struct Placement<'w> {
    weights: &'w mut Weights,
    stream: std::vec::IntoIter<i16>,
}

impl Placement<'_> {
    /// Takes the next weight of the stream. A position outside the shape is filling; `None` at the end of the stream.
    pub fn place(&mut self, position: Position) -> Option<()> {
        let weight = self.stream.next()?;
        let Shape { outputs, height, width, inputs } = self.weights.shape;
        let Position { output, y, x, input } = position;
        if output < outputs && y < height && x < width && input < inputs {
            let index = self.weights.index(position);
            *self.weights.values.get_mut(index)? = weight;
        }
        Some(())
    }

    /// Takes weights that fill.
    pub fn skip(&mut self, count: usize) -> Option<()> {
        if count > 0 { self.stream.nth(count - 1).map(drop) } else { Some(()) }
    }
}

/// The address and the length of each core's stream.
const STREAMS: [[Register; 2]; 4] = [
    [name::WEIGHT_BASE, name::WEIGHT_LENGTH],
    [name::WEIGHT1_BASE, name::WEIGHT1_LENGTH],
    [name::WEIGHT2_BASE, name::WEIGHT2_LENGTH],
    [name::WEIGHT3_BASE, name::WEIGHT3_LENGTH],
];

/// Reads the weights of a kernel.
///
/// # Errors
/// [`Problem::Weights`] for streams that have other weights than the kernel.
pub fn load(machine: &Machine<'_, '_>, shape: Shape, kernel: &Kernel, depthwise: bool) -> Result<Weights, Problem> {
    let count = (shape.outputs * shape.inputs).checked_mul(shape.height * shape.width);
    let streams = streams(machine)?;
    // A stream may say in a byte that weights are zero, up to the filling.
    let most = streams.iter().map(Vec::len).sum();
    let count = count.filter(|count| *count <= most).ok_or(Problem::Weights)?;
    let mut weights = Weights { shape, values: vec![0; count] };
    let cores = machine.npu.cores();
    for (core, stream) in streams.into_iter().enumerate() {
        let mut placement = Placement { weights: &mut weights, stream: stream.into_iter() };
        let placed = match machine.npu.series {
            Series::U55 | Series::U65 => Order::of(machine, kernel, depthwise)?.arrange(&mut placement, [core, cores]),
            Series::U85 => OrderU85::of(machine, kernel, depthwise)?.arrange(&mut placement, [core, cores]),
        };
        let is_whole = placed.is_some() && placement.stream.next().is_none();
        is_whole.then_some(()).ok_or(Problem::Weights)?;
    }
    Ok(weights)
}

/// The decoded stream of each core.
fn streams(machine: &Machine<'_, '_>) -> Result<Vec<Vec<i16>>, Problem> {
    let registers = &machine.registers;
    let region = Place::Region((registers.parameter(name::WEIGHT_REGION)? & 7) as u8);
    let stream = |[base, length]: &[Register; 2]| {
        let length = registers.payload(*length)?;
        if length == 0 {
            return Ok(Vec::new());
        }
        let bytes = machine.memory.read(region, registers.address(*base)?, u64::from(length))?;
        decode(bytes).ok_or(Problem::Weights)
    };
    STREAMS.iter().take(machine.npu.cores()).map(stream).collect()
}

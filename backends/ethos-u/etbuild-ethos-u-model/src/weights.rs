//! Weights: compressed streams, in the order in which the NPU multiplies.

mod bit_stream;
mod decode;
mod fast;
mod order;
mod order_u85;

pub use decode::decode;

use crate::fault::Problem;
use crate::kernel::Kernel;
use crate::machine::Machine;
use crate::memory::Place;
use crate::npu::Series;
use crate::registers::bits;
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

/// An order of weights.
trait Arrange {
    /// Places the stream of a core of several; `None` where the stream is too short.
    fn arrange(&self, to: &mut Placement<'_>, cores: [usize; 2]) -> Option<()>;

    /// The weights of a core that are beside each other in a stream for all cores.
    fn block(&self, cores: usize) -> usize;
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
    let order: Box<dyn Arrange> = match machine.npu.series {
        Series::U55 | Series::U65 => Box::new(Order::of(machine, kernel, depthwise)?),
        Series::U85 => Box::new(OrderU85::of(machine, kernel, depthwise)?),
    };
    let is_fast = machine.npu.is_u85() && bits(machine.registers.parameter(name::WEIGHT_FORMAT)?, 0, 1) != 0;
    let cores = machine.npu.cores();
    let streams = if is_fast { fast(machine, order.block(cores))? } else { streams(machine)? };
    let filling = if is_fast { fast::FILLING } else { 0 };
    let count = (shape.outputs * shape.inputs).checked_mul(shape.height * shape.width);
    let stored = streams.iter().map(Vec::len).sum();
    let count = count.filter(|count| *count <= stored).ok_or(Problem::Weights)?;
    let mut weights = Weights { shape, values: vec![0; count] };
    for (core, stream) in streams.into_iter().enumerate() {
        let mut placement = Placement { weights: &mut weights, stream: stream.into_iter() };
        let placed = order.arrange(&mut placement, [core, cores]);
        let is_whole = placed.is_some() && placement.stream.len() <= filling;
        is_whole.then_some(()).ok_or(Problem::Weights)?;
    }
    Ok(weights)
}

/// The bytes of a core's stream.
fn bytes<'s>(machine: &'s Machine<'_, '_>, [base, length]: &[Register; 2]) -> Result<&'s [u8], Problem> {
    let registers = &machine.registers;
    let region = Place::Region((registers.parameter(name::WEIGHT_REGION)? & 7) as u8);
    match registers.payload(*length)? {
        0 => Ok(&[]),
        length => machine.memory.read(region, registers.address(*base)?, u64::from(length)),
    }
}

/// The decoded stream of each core.
fn streams(machine: &Machine<'_, '_>) -> Result<Vec<Vec<i16>>, Problem> {
    let stream = |registers| decode(bytes(machine, registers)?).ok_or(Problem::Weights);
    STREAMS.iter().take(machine.npu.cores()).map(stream).collect()
}

/// The decoded streams of all cores, which are one stream for the fast decoder: a block for each core in turn.
fn fast(machine: &Machine<'_, '_>, block: usize) -> Result<Vec<Vec<i16>>, Problem> {
    let stream = fast::decode(bytes(machine, &STREAMS[0])?).ok_or(Problem::Weights)?;
    let cores = machine.npu.cores();
    let of_core = |core: usize| stream.chunks(block.max(1)).skip(core).step_by(cores).flatten().copied().collect();
    Ok((0..cores).map(of_core).collect())
}

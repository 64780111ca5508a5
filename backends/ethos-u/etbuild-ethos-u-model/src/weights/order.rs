//! The order of weights on Ethos-U55 and U65.

use super::{Arrange, Placement, Position, Shape};
use crate::fault::Problem;
use crate::feature_map::IFM;
use crate::kernel::Kernel;
use crate::machine::Machine;
use crate::registers::name;

/// The input channels of a micro-block.
const INPUTS: usize = 8;
/// The rows and columns of a part of the kernel, in pixels.
const PART: usize = 8;

/// The order of weights: blocks of output channels, blocks of input channels, parts of the kernel, micro-blocks.
#[derive(Debug)]
pub struct Order {
    /// Output channels of a block.
    outputs: usize,
    /// Output channels of a micro-block.
    micro: usize,
    /// Input channels of a block.
    inputs: usize,
    /// A multiple of this many elements of a kernel's part is stored.
    round: usize,
    part: [usize; 2],
    mode: Mode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    DepthFirst,
    PartFirst,
    Depthwise,
}

/// A part of the kernel.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: [usize; 2],
    size: [usize; 2],
}

impl Order {
    /// The order that registers describe.
    pub fn of(machine: &Machine<'_, '_>, kernel: &Kernel, depthwise: bool) -> Result<Self, Problem> {
        let is_wide = IFM.element(&machine.registers)?.bytes == 2;
        let mode = match (depthwise, kernel.is_part_first) {
            (true, _) => Mode::Depthwise,
            (false, true) => Mode::PartFirst,
            (false, false) => Mode::DepthFirst,
        };
        let round = match mode {
            Mode::DepthFirst => 1,
            Mode::PartFirst if is_wide => 2,
            Mode::PartFirst | Mode::Depthwise => 4,
        };
        Ok(Self {
            outputs: machine.registers.size(name::OFM_BLK_DEPTH_M1)?,
            micro: machine.npu.micro_depth(),
            inputs: if mode == Mode::PartFirst || is_wide { 16 } else { 32 },
            round,
            part: [PART / kernel.rows.dilation, PART / kernel.columns.dilation],
            mode,
        })
    }
}

impl Arrange for Order {
    fn arrange(&self, to: &mut Placement<'_>, [core, cores]: [usize; 2]) -> Option<()> {
        let Shape { outputs, height, width, inputs } = to.weights.shape;
        let of_core = |channels: usize| (channels + cores - 1 - core) / cores;
        let (channels, block) = (of_core(outputs), of_core(self.outputs).max(1));
        let position = |output: usize| output * cores + core;
        for output in (0..channels).step_by(block) {
            let depth = block.min(channels - output);
            for input in (0..inputs).step_by(self.inputs) {
                for y in (0..height).step_by(self.part[0]) {
                    for x in (0..width).step_by(self.part[1]) {
                        let size = [self.part[0].min(height - y), self.part[1].min(width - x)];
                        let part = Part { start: [y, x], size };
                        self.place_part(to, part, [output, depth], [input, inputs], &|output| {
                            if output < channels { position(output) } else { usize::MAX }
                        })?;
                    }
                }
            }
        }
        Some(())
    }

    /// No series with this order has a stream for all cores.
    fn block(&self, _cores: usize) -> usize {
        0
    }
}

impl Order {
    fn place_part(
        &self,
        to: &mut Placement<'_>,
        part: Part,
        [output, depth]: [usize; 2],
        [input, inputs]: [usize; 2],
        channel: &dyn Fn(usize) -> usize,
    ) -> Option<()> {
        let (outer, inner) = match self.mode {
            Mode::Depthwise => (1, 1),
            Mode::DepthFirst => (1, self.inputs),
            Mode::PartFirst => (self.inputs.min(inputs - input), 1),
        };
        let elements = (part.size[0] * part.size[1]).next_multiple_of(self.round);
        for outer in (0..outer).step_by(INPUTS) {
            for micro in (0..depth).step_by(self.micro) {
                for element in 0..elements {
                    for inner in (0..inner).step_by(INPUTS) {
                        let first = input + outer + inner;
                        self.place_micro(to, part, element, first, &|index| channel(output + micro + index))?;
                    }
                }
            }
        }
        Some(())
    }

    /// Places the weights of a micro-block at an element of the kernel. Elements behind the part's last row fill.
    fn place_micro(
        &self,
        to: &mut Placement<'_>,
        part: Part,
        element: usize,
        input: usize,
        channel: &dyn Fn(usize) -> usize,
    ) -> Option<()> {
        let row = element / part.size[1];
        let y = if row < part.size[0] { part.start[0] + row } else { usize::MAX };
        let x = part.start[1] + element % part.size[1];
        let inputs = if self.mode == Mode::Depthwise { 1 } else { INPUTS };
        for index in 0..self.micro {
            for offset in 0..inputs {
                to.place(Position { output: channel(index), y, x, input: input + offset })?;
            }
        }
        Some(())
    }
}

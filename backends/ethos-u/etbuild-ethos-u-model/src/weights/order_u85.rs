//! The order of weights on Ethos-U85.

use super::{Arrange, Placement, Position, Shape};
use crate::fault::Problem;
use crate::feature_map::IFM;
use crate::kernel::Kernel;
use crate::machine::Machine;
use crate::registers::{bits, name};

/// The rows and columns of a part of the kernel, in pixels.
const PART: usize = 8;
/// Output channels that are beside each other in a stream.
const GROUP: usize = 4;
/// The areas of micro-blocks in pixels, by number.
const AREAS: [usize; 6] = [1, 2, 4, 4, 8, 16];

/// The order of weights: blocks of output channels, blocks of input channels back and forth, parts of the kernel, micro-blocks.
#[derive(Debug)]
pub struct OrderU85 {
    /// Output channels of a block and of a micro-block.
    outputs: [usize; 2],
    /// Input channels of a block, of a micro-block, and beside each other.
    inputs: [usize; 3],
    /// A multiple of this many elements of a kernel's part is stored.
    round: usize,
    /// Filling elements behind each round of a depthwise convolution.
    filling: usize,
    part: [usize; 2],
    /// The distances of kernel elements that are stored together.
    stride: [usize; 2],
    is_depthwise: bool,
}

impl OrderU85 {
    /// The order that registers describe.
    pub fn of(machine: &Machine<'_, '_>, kernel: &Kernel, is_depthwise: bool) -> Result<Self, Problem> {
        let is_sparse = bits(machine.registers.parameter(name::WEIGHT_FORMAT)?, 4, 1) != 0;
        let bytes = IFM.element(&machine.registers)?.bytes;
        let micro = bits(machine.registers.parameter(name::ACC_FORMAT)?, 8, 3);
        let area = AREAS.get(usize::from(micro)).ok_or(Problem::Contradiction("the micro-block is none of the NPU"))?;
        let micro = machine.npu.multiplications / 8 / area;
        let is_part_first = kernel.is_part_first && !is_depthwise;
        let is_small = machine.npu.multiplications <= 256;
        let block = match is_part_first {
            true => 16,
            false if bytes == 4 || is_small && micro == 16 && !is_sparse => 32,
            false if bytes == 1 && is_sparse => 128,
            false => 64,
        };
        let beside = if is_sparse { 16 } else { 8 };
        let (inputs, round) = match (is_depthwise, is_part_first, bytes) {
            (true, ..) => ([1, 1, 1], 10),
            (false, false, _) => ([block, block, beside], 1),
            (false, true, 1) if !is_sparse => ([block, block, beside], 5),
            (false, true, 1) => ([block, block, beside], 10),
            (false, true, _) => ([block, beside, beside], 10),
        };
        let filling = match machine.npu.multiplications {
            ..=256 if bytes == 1 => 0,
            ..=512 => 2,
            _ => 6,
        };
        let [rows, columns] = [kernel.rows, kernel.columns];
        let is_strided = is_part_first || is_depthwise;
        Ok(Self {
            outputs: [machine.registers.size(name::OFM_BLK_DEPTH_M1)?, micro],
            inputs,
            round,
            filling: if is_depthwise { filling } else { 0 },
            part: [PART / rows.dilation, PART / columns.dilation],
            stride: if is_strided { [rows.stride, columns.stride] } else { [1, 1] },
            is_depthwise,
        })
    }
}

impl Arrange for OrderU85 {
    fn arrange(&self, to: &mut Placement<'_>, cores: [usize; 2]) -> Option<()> {
        let Shape { outputs, height, width, inputs } = to.weights.shape;
        let mut blocks: Vec<usize> = (0..inputs).step_by(self.inputs[0]).collect();
        for output in (0..outputs).step_by(self.outputs[0]) {
            let depth = self.outputs[0].min(outputs - output);
            for input in &blocks {
                for x in (0..width).step_by(self.part[1]) {
                    for y in (0..height).step_by(self.part[0]) {
                        let size = [self.part[0].min(height - y), self.part[1].min(width - x)];
                        let outer = if self.is_depthwise { 1 } else { self.inputs[0].min(inputs - input) };
                        for outer in (0..outer).step_by(self.inputs[1]) {
                            for micro in (0..depth).step_by(self.outputs[1]) {
                                let first = Position { output: output + micro, y, x, input: input + outer };
                                self.place_part(to, first, size, cores)?;
                            }
                        }
                    }
                }
            }
            blocks.reverse();
        }
        Some(())
    }

    fn block(&self, cores: usize) -> usize {
        self.outputs[1] * self.inputs[1] * self.round / cores
    }
}

impl OrderU85 {
    /// Places the weights of a micro-block for a part of the kernel.
    fn place_part(&self, to: &mut Placement<'_>, first: Position, size: [usize; 2], cores: [usize; 2]) -> Option<()> {
        let filling = |elements: usize| elements * self.inputs[1] * self.outputs[1] / cores[1];
        let mut left = (size[0] * size[1]).next_multiple_of(self.round);
        for [y, x] in self.walk(size) {
            left -= 1;
            for inner in (0..self.inputs[1]).step_by(self.inputs[2]) {
                let element = Position { y: first.y + y, x: first.x + x, input: first.input + inner, ..first };
                self.place_micro(to, element, cores)?;
            }
            if left.is_multiple_of(self.round) {
                to.skip(filling(self.filling))?;
            }
        }
        if left > 0 { to.skip(filling(left + self.filling)) } else { Some(()) }
    }

    /// The elements of a part: those that meet the same pixel of a strided input together, rows back and forth.
    fn walk(&self, [height, width]: [usize; 2]) -> Vec<[usize; 2]> {
        let mut elements = Vec::new();
        let [rows, columns] = self.stride;
        for (start_y, start_x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
            for (row, y) in (start_y..height).step_by(rows).enumerate() {
                let mut line: Vec<_> = (start_x..width).step_by(columns).map(|x| [y, x]).collect();
                if row % 2 == 1 {
                    line.reverse();
                }
                elements.extend(line);
            }
        }
        elements
    }

    fn place_micro(&self, to: &mut Placement<'_>, element: Position, [core, cores]: [usize; 2]) -> Option<()> {
        for group in (core * GROUP..self.outputs[1]).step_by(GROUP * cores) {
            for output in 0..GROUP {
                for input in 0..self.inputs[2] {
                    let output = element.output + group + output;
                    to.place(Position { output, input: element.input + input, ..element })?;
                }
            }
        }
        Some(())
    }
}

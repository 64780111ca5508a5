//! The way from sums to elements of the output: scale, zero point, clamping, table, order of dimensions, memory.

use crate::fault::Problem;
use crate::feature_map::{FeatureMap, OFM, Storage};
use crate::machine::Machine;
use crate::npu::Npu;
use crate::registers::name::{self, Register};
use crate::registers::{Registers, bits};
use crate::rounding::{Rounding, Scale};
use crate::table::Activation;
use crate::volume::{Size, Volume};

/// The size of the output, before its dimensions are ordered. The output has room where it goes.
pub fn size(machine: &Machine<'_, '_>) -> Result<Size, Problem> {
    let registers = &machine.registers;
    let [height, width, depth] = [name::OFM_HEIGHT_M1, name::OFM_WIDTH_M1, name::OFM_DEPTH_M1];
    let size = Size { height: registers.size(height)?, width: registers.size(width)?, depth: registers.size(depth)? };
    match OFM.storage(machine)? {
        Storage::Tiles => FeatureMap::of(&OFM, registers)?.check(machine, size)?,
        // At the end of a chain results go to memory.
        Storage::Chained(_) | Storage::Nowhere if size.elements() <= machine.memory.size() => {}
        Storage::Chained(_) | Storage::Nowhere => return Err(Problem::Work),
    }
    Ok(size)
}

/// Whether one scale is for all channels.
pub fn is_global(registers: &Registers) -> Result<bool, Problem> {
    Ok(bits(registers.parameter(name::OFM_PRECISION)?, 8, 1) != 0)
}

/// The ways of rounding of U55 and U65, and those of U85, by number.
const ROUNDINGS: [Rounding; 3] = [Rounding::Double, Rounding::Truncate, Rounding::Natural];
const ROUNDINGS_U85: [Rounding; 6] =
    [Rounding::Double, Rounding::Natural, Rounding::DoubleUp, Rounding::Symmetric, Rounding::Truncate, Rounding::Down];

/// The way in which the output is rounded.
pub fn rounding(npu: Npu, registers: &Registers) -> Result<Rounding, Problem> {
    let unknown = Problem::Contradiction("the way of rounding is none of the NPU");
    if npu.is_u85() {
        let number = bits(registers.parameter(name::OFM_SCALE)?, 13, 3);
        return ROUNDINGS_U85.get(usize::from(number)).copied().ok_or(unknown);
    }
    rounding_u55(registers, name::OFM_PRECISION)
}

/// The way of rounding in the precision of a feature map of U55 and U65.
pub fn rounding_u55(registers: &Registers, precision: Register) -> Result<Rounding, Problem> {
    let number = bits(registers.parameter(precision)?, 14, 2);
    ROUNDINGS.get(usize::from(number)).copied().ok_or(Problem::Contradiction("the way of rounding is none of the NPU"))
}

/// The scale of a register of U85, or that of the output on all series.
pub fn scale(registers: &Registers, register: Register, rounding: Rounding) -> Result<Scale, Problem> {
    let word = registers.parameter(register)?;
    let scale = Scale::new(i64::from(registers.payload(register)?), u32::from(bits(word, 0, 6)), rounding);
    Ok(scale)
}

/// The scale of all channels of the output.
pub fn global(npu: Npu, registers: &Registers) -> Result<Scale, Problem> {
    let scale = scale(registers, name::OFM_SCALE, rounding(npu, registers)?)?;
    let shifted = if npu.is_u85() { bits(registers.parameter(name::OFM_SCALE)?, 6, 5) } else { 0 };
    Ok(Scale { shifted: u32::from(shifted), ..scale })
}

/// Writes scaled results.
pub fn store(machine: &mut Machine<'_, '_>, mut results: Volume) -> Result<(), Problem> {
    let zero = OFM.zero(&machine.registers)?;
    let activation = Activation::of(machine.npu, &machine.registers)?;
    for value in &mut results.values {
        *value = activation.apply(machine, value.wrapping_add(zero))?;
    }
    match OFM.storage(machine)? {
        Storage::Tiles => {
            let ordered = if machine.npu.is_u85() { order(&machine.registers, results)? } else { results };
            FeatureMap::of(&OFM, &machine.registers)?.store(machine, &ordered)
        }
        Storage::Chained(buffer) => {
            machine.chains.insert(buffer, results);
            Ok(())
        }
        Storage::Nowhere => Ok(()),
    }
}

/// The orders of dimensions of U85 by number: which dimension of the results is the height, the width and the depth of the output.
const ORDERS: [Option<[usize; 3]>; 8] =
    [Some([0, 1, 2]), Some([1, 0, 2]), Some([0, 2, 1]), Some([1, 2, 0]), None, None, Some([2, 0, 1]), Some([2, 1, 0])];

/// Orders the dimensions as U85 does, or reverses one.
fn order(registers: &Registers, results: Volume) -> Result<Volume, Problem> {
    let precision = registers.parameter(name::OFM_PRECISION)?;
    let reversed = usize::from(bits(precision, 9, 2));
    let order = ORDERS[usize::from(bits(precision, 11, 3))];
    let order = order.ok_or(Problem::Contradiction("the order of dimensions is none of the NPU"))?;
    if reversed == 0 && order == [0, 1, 2] {
        return Ok(results);
    }
    let Size { height, width, depth } = results.size;
    let sizes = order.map(|dimension| [height, width, depth][dimension]);
    let [height, width, depth] = sizes;
    Ok(Volume::of(Size { height, width, depth }, |y, x, channel| {
        let mut source = [0; 3];
        for (dimension, (position, size)) in order.into_iter().zip([y, x, channel].into_iter().zip(sizes)) {
            source[dimension] = if dimension + 1 == reversed { size - 1 - position } else { position };
        }
        results.broadcast(source[0], source[1], source[2])
    }))
}

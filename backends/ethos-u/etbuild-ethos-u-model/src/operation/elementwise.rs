//! Operations on the elements of one or two feature maps.

use super::mode::{MODES, Mode, Operands, Own};
use crate::fault::Problem;
use crate::feature_map::{IFM, IFM2, Side};
use crate::machine::Machine;
use crate::output;
use crate::registers::name::{self, Register};
use crate::registers::{Registers, bits};
use crate::rounding::{Rounding, Scale};
use crate::volume::{Size, Volume};

/// Executes an operation; the parameter is the number of the mode.
pub fn elementwise(machine: &mut Machine<'_, '_>, parameter: u16) -> Result<(), Problem> {
    let mode = MODES.iter().find(|mode| mode.number == parameter && (machine.npu.is_u85() || !mode.is_u85));
    let mode = mode.ok_or(Problem::Unsupported("operation on elements with this number"))?;
    let size = output::size(machine)?;
    let first = operand(machine, &IFM, size)?;
    let second =
        if mode.is_binary { operand(machine, &IFM2, size)? } else { Volume { size: Size::ONE, values: vec![0] } };
    let is_reversed = mode.is_binary && is_reversed(machine)?;
    let scales = if machine.npu.is_u85() { scales_u85(machine, mode)? } else { scales_u55(machine, mode)? };
    let [left, right] = if is_reversed { [&second, &first] } else { [&first, &second] };
    let results = Volume::of(size, |y, x, channel| {
        let [left, right] = [left, right].map(|volume| volume.broadcast(y, x, channel));
        scales.compute(mode, left, right)
    });
    output::store(machine, results)
}

/// The scales of an operation.
struct Scales {
    operands: [Scale; 2],
    output: Scale,
    rounding: Rounding,
}

impl Scales {
    fn compute(&self, mode: &Mode, left: i64, right: i64) -> i64 {
        let [first, second] = self.operands;
        let operands = match mode.own {
            Own::Nothing => Operands { left: first.apply(left), right: second.apply(right), rounding: self.rounding },
            Own::Slope => {
                Operands { left: if left < 0 { second } else { first }.apply(left), right: 0, rounding: self.rounding }
            }
        };
        self.output.apply((mode.compute)(operands))
    }
}

/// The second operand is the first input.
fn is_reversed(machine: &Machine<'_, '_>) -> Result<bool, Problem> {
    let word = machine.registers.parameter(name::IFM2_BROADCAST)?;
    Ok(!machine.npu.is_u85() && bits(word, 6, 1) != 0)
}

/// Reads an operand: a feature map, some dimensions of which are broadcast, or one number.
fn operand(machine: &Machine<'_, '_>, side: &Side, size: Size) -> Result<Volume, Problem> {
    let registers = &machine.registers;
    let is_second = std::ptr::eq(side, &raw const IFM2);
    let mode = match (is_second, machine.npu.is_u85()) {
        (true, _) => registers.parameter(name::IFM2_BROADCAST)?,
        (false, true) => registers.parameter(name::IFM_BROADCAST)?,
        (false, false) => 0,
    };
    let is_number = if machine.npu.is_u85() { bits(mode, 3, 1) } else { bits(mode, 7, 1) } != 0;
    if is_number {
        let value = number(machine, side)? - side.zero(registers)?;
        return Ok(Volume { size: Size::ONE, values: vec![value] });
    }
    let length = |bit: u32, size: usize| if bits(mode, bit, 1) != 0 { 1 } else { size };
    let Size { height, width, depth } = size;
    side.load(machine, Size { height: length(0, height), width: length(1, width), depth: length(2, depth) })
}

/// The number that stands for a whole feature map.
fn number(machine: &Machine<'_, '_>, side: &Side) -> Result<i64, Problem> {
    let element = side.element(&machine.registers)?;
    if machine.npu.is_u85() {
        return Ok(i64::from(machine.registers.payload(name::OP_SCALAR)?.cast_signed()));
    }
    let word = machine.registers.parameter(name::IFM2_SCALAR)?;
    Ok(if element.is_signed { i64::from(word.cast_signed()) } else { i64::from(word) })
}

/// The scale of the output: 1 where the operation does not scale.
fn output_scale(machine: &Machine<'_, '_>) -> Result<Scale, Problem> {
    match output::is_global(&machine.registers)? {
        true => output::global(machine.npu, &machine.registers),
        false => Ok(Scale::UNIT),
    }
}

/// The scales of U85: of both operands, and of the output.
fn scales_u85(machine: &Machine<'_, '_>, mode: &Mode) -> Result<Scales, Problem> {
    let registers = &machine.registers;
    let of = |register: Register| {
        let word = registers.parameter(register)?;
        let rounding = if bits(word, 13, 1) != 0 { Rounding::Natural } else { Rounding::Double };
        let scale = output::scale(registers, register, rounding)?;
        let shifted = u32::from(bits(word, 6, 5));
        Ok(Scale { shifted, ..scale })
    };
    let has_second = mode.is_binary || mode.own == Own::Slope;
    let second = if has_second { of(name::IFM2_SCALE)? } else { Scale::UNIT };
    let operands = [of(name::IFM_SCALE)?, second];
    let rounding = output::rounding(machine.npu, registers)?;
    Ok(Scales { operands, output: output_scale(machine)?, rounding })
}

/// The scales of U55 and U65: of the operands of sums and differences, and of the output.
fn scales_u55(machine: &Machine<'_, '_>, mode: &Mode) -> Result<Scales, Problem> {
    let output = output_scale(machine)?;
    let rounding = output::rounding(machine.npu, &machine.registers)?;
    let (operands, output) = match mode.own {
        Own::Slope => ([Scale::UNIT, output], Scale::UNIT),
        Own::Nothing if mode.is_sum => (operand_scales(&machine.registers)?, output),
        Own::Nothing => ([Scale::UNIT; 2], output),
    };
    Ok(Scales { operands, output, rounding })
}

/// The scales of both operands. Either each has a factor, or one has a scale of 32 bits and the other is shifted to the left by a constant.
fn operand_scales(registers: &Registers) -> Result<[Scale; 2], Problem> {
    let precision = registers.parameter(name::IFM_PRECISION)?;
    let first = output::scale(registers, name::OPA_SCALE, output::rounding_u55(registers, name::IFM_PRECISION)?)?;
    let shifted = if IFM.element(registers)?.bytes == 1 { 20 } else { 15 };
    // Both operands have the scale of the greater one, halved.
    let other = Scale::new(1 << (shifted - 1), 0, Rounding::Natural);
    let scaled = Scale { shifted, ..first };
    match bits(precision, 8, 2) {
        0 => {
            let factor =
                |register| Ok(Scale::new(i64::from(registers.payload(register)? & 0xffff), 0, Rounding::Natural));
            Ok([factor(name::OPA_SCALE)?, factor(name::OPB_SCALE)?])
        }
        1 => Ok([scaled, other]),
        2 => Ok([other, scaled]),
        _ => Err(Problem::Contradiction("the scales of the operands are none of the NPU")),
    }
}

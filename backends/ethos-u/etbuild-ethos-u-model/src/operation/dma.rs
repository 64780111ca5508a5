//! Copies between regions, and of tables into the NPU.

use crate::fault::Problem;
use crate::machine::Machine;
use crate::memory::Place;
use crate::npu::Series;
use crate::registers::name::{self, Register};
use crate::registers::{Registers, bits};

/// A side of a copy.
struct Side {
    place: Place,
    address: u64,
    /// The distances of rows and of planes.
    strides: [u64; 2],
}

/// Copies rows of bytes: one, some, or some planes of rows.
pub fn copy(machine: &mut Machine<'_, '_>, _parameter: u16) -> Result<(), Problem> {
    let registers = &machine.registers;
    let length = registers.address(name::DMA0_LEN)?;
    let dimensions = dimensions(machine)?;
    let count = |register: Register, dimension: usize| match dimensions > dimension {
        true => registers.parameter(register).map(u64::from),
        false => Ok(1),
    };
    let [rows, planes] = [count(name::DMA0_SIZE0, 1)?, count(name::DMA0_SIZE1, 2)?];
    let [from, to] = sides(machine, dimensions, length, rows)?;
    // Rows that do not overlap fit their place.
    let all = length.saturating_mul(rows).saturating_mul(planes);
    if length == 0 || all > machine.memory.bytes(to.place).len() as u64 {
        return Err(Problem::Memory { region: to.place.number(), address: to.address, size: all });
    }
    for (plane, row) in (0..planes).flat_map(|plane| (0..rows).map(move |row| (plane, row))) {
        let bytes = machine.memory.read(from.place, from.at(plane, row), length)?.to_vec();
        machine.memory.write(to.place, to.at(plane, row), &bytes)?;
    }
    Ok(())
}

/// Rows, rows of several, or planes of rows.
fn dimensions(machine: &Machine<'_, '_>) -> Result<usize, Problem> {
    let [from, to] =
        [name::DMA0_SRC_REGION, name::DMA0_DST_REGION].map(|register| machine.registers.parameter(register));
    let (from, to) = (from?, to?);
    let is_indexed = machine.npu.is_u85() && (bits(from, 11, 1) != 0 || bits(to, 9, 1) != 0);
    let mode = match machine.npu.series {
        Series::U55 => 0,
        Series::U65 => bits(to, 9, 2),
        Series::U85 => bits(from, 9, 2),
    };
    match mode {
        _ if is_indexed => Err(Problem::Unsupported("copies by index")),
        0..=2 => Ok(usize::from(mode) + 1),
        _ => Err(Problem::Contradiction("the copy has more than three dimensions")),
    }
}

/// The source and the target. On U65 rows follow each other without a gap in the source, and registers have the gaps of the target.
fn sides(machine: &Machine<'_, '_>, dimensions: usize, length: u64, rows: u64) -> Result<[Side; 2], Problem> {
    let registers = &machine.registers;
    let distance = |register: Register, dimension: usize| match dimensions > dimension {
        true => registers.address(register),
        false => Ok(0),
    };
    let distances = |[row, plane]: [Register; 2]| Ok([distance(row, 1)?, distance(plane, 2)?]);
    let [from, to] = if machine.npu.is_u85() {
        let from = distances([name::DMA0_SRC_STRIDE0, name::DMA0_SRC_STRIDE1])?;
        [from, distances([name::DMA0_DST_STRIDE0, name::DMA0_DST_STRIDE1])?]
    } else {
        let [row, plane] = distances([name::DMA0_SKIP0, name::DMA0_SKIP1])?;
        let pitch = length.wrapping_add(row);
        [[length, length.wrapping_mul(rows)], [pitch, pitch.wrapping_mul(rows).wrapping_add(plane)]]
    };
    let from = Side::of(registers, [name::DMA0_SRC_REGION, name::DMA0_SRC], from)?;
    Ok([from, Side::of(registers, [name::DMA0_DST_REGION, name::DMA0_DST], to)?])
}

impl Side {
    fn of(registers: &Registers, [region, address]: [Register; 2], strides: [u64; 2]) -> Result<Self, Problem> {
        let word = registers.parameter(region)?;
        let place = if bits(word, 8, 1) != 0 { Place::Internal } else { Place::Region((word & 7) as u8) };
        Ok(Self { place, address: registers.address(address)?, strides })
    }

    const fn at(&self, plane: u64, row: u64) -> u64 {
        let [rows, planes] = self.strides;
        self.address.wrapping_add(row.wrapping_mul(rows)).wrapping_add(plane.wrapping_mul(planes))
    }
}

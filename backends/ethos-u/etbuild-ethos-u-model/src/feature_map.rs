//! Feature maps in memory: up to four tiles, rows of pixels (NHWC) or bricks of 16 channels (NHCWB16).

use crate::fault::Problem;
use crate::machine::Machine;
use crate::memory::Place;
use crate::registers::name::{self, Register};
use crate::registers::{Registers, bits};
use crate::volume::{Size, Volume};

/// The channels of a brick.
const BRICK: u64 = 16;

/// The integers of a feature map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// 1, 2, 4 or 8 bytes.
    pub bytes: u64,
    /// Whether the integers have a sign.
    pub is_signed: bool,
}

/// Which registers describe a feature map.
#[derive(Debug)]
pub struct Side {
    region: Register,
    bases: [Register; 4],
    /// The rows of the left tile, the rows of the right tile, the columns of the left tiles.
    tiles: [Register; 3],
    /// The distances of rows, columns and bricks.
    strides: [Register; 3],
    precision: Register,
    /// The lowest bit of the width of integers in the precision.
    width: u32,
    zero: Register,
}

/// The first input.
pub static IFM: Side = Side {
    region: name::IFM_REGION,
    bases: [name::IFM_BASE0, name::IFM_BASE1, name::IFM_BASE2, name::IFM_BASE3],
    tiles: [name::IFM_HEIGHT0_M1, name::IFM_HEIGHT1_M1, name::IFM_WIDTH0_M1],
    strides: [name::IFM_STRIDE_Y, name::IFM_STRIDE_X, name::IFM_STRIDE_C],
    precision: name::IFM_PRECISION,
    width: 2,
    zero: name::IFM_ZERO_POINT,
};

/// The second input.
pub static IFM2: Side = Side {
    region: name::IFM2_REGION,
    bases: [name::IFM2_BASE0, name::IFM2_BASE1, name::IFM2_BASE2, name::IFM2_BASE3],
    tiles: [name::IFM2_HEIGHT0_M1, name::IFM2_HEIGHT1_M1, name::IFM2_WIDTH0_M1],
    strides: [name::IFM2_STRIDE_Y, name::IFM2_STRIDE_X, name::IFM2_STRIDE_C],
    precision: name::IFM2_PRECISION,
    width: 2,
    zero: name::IFM2_ZERO_POINT,
};

/// The output.
pub static OFM: Side = Side {
    region: name::OFM_REGION,
    bases: [name::OFM_BASE0, name::OFM_BASE1, name::OFM_BASE2, name::OFM_BASE3],
    tiles: [name::OFM_HEIGHT0_M1, name::OFM_HEIGHT1_M1, name::OFM_WIDTH0_M1],
    strides: [name::OFM_STRIDE_Y, name::OFM_STRIDE_X, name::OFM_STRIDE_C],
    precision: name::OFM_PRECISION,
    width: 1,
    zero: name::OFM_ZERO_POINT,
};

/// Where the elements of a feature map are; of U85.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In memory.
    Tiles,
    /// In a buffer of the NPU, which passes elements to the next operation.
    Chained(u16),
    /// Nowhere.
    Nowhere,
}

impl Side {
    /// The integers.
    pub fn element(&self, registers: &Registers) -> Result<Element, Problem> {
        let precision = registers.parameter(self.precision)?;
        Ok(Element { bytes: 1 << bits(precision, self.width, 2), is_signed: precision & 1 != 0 })
    }

    /// The integer of 0.0.
    pub fn zero(&self, registers: &Registers) -> Result<i64, Problem> {
        let zero = registers.parameter(self.zero)?;
        let is_signed = self.element(registers)?.is_signed;
        Ok(if is_signed { i64::from(zero.cast_signed()) } else { i64::from(zero) })
    }

    /// Where the elements are.
    pub fn storage(&self, machine: &Machine<'_, '_>) -> Result<Storage, Problem> {
        let precision = machine.registers.parameter(self.precision)?;
        match bits(precision, 14, 2) {
            _ if !machine.npu.is_u85() => Ok(Storage::Tiles),
            0 => Ok(Storage::Tiles),
            1 => Err(Problem::Unsupported("tiles above each other")),
            2 => match machine.registers.parameter(self.region)? {
                buffer @ ..CHAINS => Ok(Storage::Chained(buffer)),
                _ => Err(Problem::Contradiction("the NPU has no such buffer of a chain")),
            },
            _ => Ok(Storage::Nowhere),
        }
    }

    /// Reads a feature map of a size, with the zero point subtracted.
    pub fn load(&self, machine: &Machine<'_, '_>, size: Size) -> Result<Volume, Problem> {
        let zero = self.zero(&machine.registers)?;
        let mut volume = match self.storage(machine)? {
            Storage::Tiles => FeatureMap::of(self, &machine.registers)?.load(machine, size)?,
            Storage::Chained(buffer) => machine.chained(buffer, size)?,
            Storage::Nowhere => return Err(Problem::Contradiction("an input has no storage")),
        };
        volume.values.iter_mut().for_each(|value| *value = value.wrapping_sub(zero));
        Ok(volume)
    }
}

/// The most buffers of a chain: more than a chain of the compiler has.
const CHAINS: u16 = 8;

/// A feature map in memory.
#[derive(Clone, Copy, Debug)]
pub struct FeatureMap {
    place: Place,
    bases: [u64; 4],
    heights: [usize; 2],
    width: usize,
    /// The distances of rows, columns and bricks.
    strides: [u64; 3],
    element: Element,
    has_bricks: bool,
}

impl FeatureMap {
    /// The feature map that registers describe.
    pub fn of(side: &Side, registers: &Registers) -> Result<Self, Problem> {
        let [left, right, width] = side.tiles.map(|register| registers.size(register));
        let base = |index: usize| registers.address(side.bases[index]);
        let [rows, columns, bricks] = side.strides.map(|register| registers.address(register));
        let precision = registers.parameter(side.precision)?;
        let map = Self {
            place: Place::Region((registers.parameter(side.region)? & 7) as u8),
            bases: [base(0)?, base(1)?, base(2)?, base(3)?],
            heights: [left?, right?],
            width: width?,
            strides: [rows?, columns?, bricks?],
            element: side.element(registers)?,
            has_bricks: bits(precision, 6, 2) != 0,
        };
        let is_dense = map.has_bricks || map.strides[2] == map.element.bytes;
        is_dense.then_some(map).ok_or(Problem::Unsupported("distance between channels"))
    }

    /// The address of an element, modulo 2^64.
    fn address(&self, y: usize, x: usize, channel: usize) -> u64 {
        let is_right = x >= self.width;
        let height = self.heights[usize::from(is_right)];
        let is_below = y >= height;
        let base = self.bases[usize::from(is_right) + 2 * usize::from(is_below)];
        let x = if is_right { x - self.width } else { x } as u64;
        let y = if is_below { y - height } else { y } as u64;
        let channel = channel as u64;
        let [rows, columns, bricks] = self.strides;
        let within = if self.has_bricks {
            let brick = (channel / BRICK).wrapping_mul(bricks);
            brick.wrapping_add((x * BRICK + channel % BRICK) * self.element.bytes)
        } else {
            x.wrapping_mul(columns).wrapping_add(channel * self.element.bytes)
        };
        base.wrapping_add(y.wrapping_mul(rows)).wrapping_add(within)
    }

    /// A map whose elements do not overlap fits its region.
    pub fn check(&self, machine: &Machine<'_, '_>, size: Size) -> Result<(), Problem> {
        let bytes = (size.elements() as u64).saturating_mul(self.element.bytes);
        let fits = bytes <= machine.memory.bytes(self.place).len() as u64;
        fits.then_some(()).ok_or(Problem::Size(self.place.number()))
    }

    fn load(&self, machine: &Machine<'_, '_>, size: Size) -> Result<Volume, Problem> {
        self.check(machine, size)?;
        let mut values = Vec::with_capacity(size.elements());
        for (y, x) in size.pixels() {
            for channel in 0..size.depth {
                let address = self.address(y, x, channel);
                let bytes = machine.memory.read(self.place, address, self.element.bytes)?;
                values.push(self.element.decode(bytes));
            }
        }
        Ok(Volume { size, values })
    }

    /// Writes a feature map.
    pub fn store(&self, machine: &mut Machine<'_, '_>, volume: &Volume) -> Result<(), Problem> {
        self.check(machine, volume.size)?;
        for (y, x) in volume.size.pixels() {
            for (channel, value) in volume.pixel(y, x).iter().enumerate() {
                let bytes = value.to_le_bytes();
                let bytes = bytes.get(..self.element.bytes as usize).unwrap_or_default();
                machine.memory.write(self.place, self.address(y, x, channel), bytes)?;
            }
        }
        Ok(())
    }
}

impl Element {
    /// The lowest and the highest integer.
    pub const fn range(self) -> (i64, i64) {
        let bits = 8 * self.bytes as u32;
        match (self.is_signed, bits) {
            (_, 64) => (i64::MIN, i64::MAX),
            (true, _) => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
            (false, _) => (0, (1 << bits) - 1),
        }
    }

    /// The integer of little-endian bytes.
    pub fn decode(self, bytes: &[u8]) -> i64 {
        let unused = 64 - 8 * bytes.len() as u32;
        let all = bytes.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte)) << unused;
        if self.is_signed { all.cast_signed() >> unused } else { (all >> unused).cast_signed() }
    }
}

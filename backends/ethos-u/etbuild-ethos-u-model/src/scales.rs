//! The biases and scales of output channels, 10 bytes each.

use crate::fault::Problem;
use crate::machine::Machine;
use crate::memory::Place;
use crate::npu::Series;
use crate::registers::bits;
use crate::registers::name::{self, Register};
use crate::rounding::{Rounding, Scale};

/// The bytes of a channel.
const CHANNEL: usize = 10;

/// The bias and the scale of an output channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The bias.
    pub bias: i64,
    /// The scale.
    pub scale: Scale,
}

/// Reads the channels of an output.
pub fn load(machine: &Machine<'_, '_>, count: usize, rounding: Rounding) -> Result<Vec<Channel>, Problem> {
    let cores = if machine.npu.is_u85() { 1 } else { machine.npu.cores() };
    let is_long = bits(machine.registers.parameter(name::ACC_FORMAT)?, 0, 2) != 0;
    let decode = |bytes: &[u8; CHANNEL]| match (machine.npu.series, is_long) {
        (Series::U55 | Series::U65, _) => channel(bytes, [5, 4], rounding),
        (Series::U85, false) => channel(bytes, [4, 4], rounding),
        (Series::U85, true) => channel(bytes, [6, 2], rounding),
    };
    let streams = [[name::SCALE_BASE, name::SCALE_LENGTH], [name::SCALE1_BASE, name::SCALE1_LENGTH]];
    let streams = streams.iter().take(cores).map(|registers| stream(machine, registers));
    let streams: Vec<&[u8]> = streams.collect::<Result<_, _>>()?;
    let missing = Problem::Contradiction("output channels have no scale");
    let at = |index: usize| {
        let bytes = streams.get(index % cores)?.get(index / cores * CHANNEL..)?;
        bytes.first_chunk().map(decode)
    };
    (0..count).map(|index| at(index).ok_or(missing)).collect()
}

fn stream<'s>(machine: &'s Machine<'_, '_>, [base, length]: &[Register; 2]) -> Result<&'s [u8], Problem> {
    let registers = &machine.registers;
    let region = Place::Region((registers.parameter(name::SCALE_REGION)? & 7) as u8);
    match registers.payload(*length)? {
        0 => Ok(&[]),
        length => machine.memory.read(region, registers.address(*base)?, u64::from(length)),
    }
}

/// A channel with a bias and a factor of some bytes, and a shift.
fn channel(bytes: &[u8; CHANNEL], [bias, factor]: [usize; 2], rounding: Rounding) -> Channel {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0_i64, |all, byte| all << 8 | i64::from(*byte));
    let (signed, rest) = bytes.split_at(bias);
    let (unsigned, rest) = rest.split_at(factor);
    let unused = 64 - 8 * bias as u32;
    let shift = u32::from(rest.first().copied().unwrap_or(0) & 0x3f);
    Channel { bias: number(signed) << unused >> unused, scale: Scale::new(number(unsigned), shift, rounding) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_has_a_signed_bias_a_factor_and_a_shift() {
        let bytes = [0xfe, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0x80, 0x26];
        let found = channel(&bytes, [5, 4], Rounding::Natural);
        assert_eq!(found, Channel { bias: -2, scale: Scale::new(0x8000_0001, 38, Rounding::Natural) });
        let bytes = [0xfe, 0xff, 0xff, 0xff, 1, 0, 0, 0x40, 0x26, 0];
        let found = channel(&bytes, [4, 4], Rounding::Natural);
        assert_eq!(found, Channel { bias: -2, scale: Scale::new(0x4000_0001, 38, Rounding::Natural) });
    }
}

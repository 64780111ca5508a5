//! Pools: the maximum, the minimum, the sum or the average of the pixels under a kernel, and the sum of all channels.

use super::convolution::initial;
use crate::fault::Problem;
use crate::feature_map::IFM;
use crate::kernel::Kernel;
use crate::machine::Machine;
use crate::output;
use crate::registers::name;
use crate::rounding::{Rounding, Scale};
use crate::volume::{Size, Volume};

/// A pool; the parameter is the number of the way.
pub fn pool(machine: &mut Machine<'_, '_>, parameter: u16) -> Result<(), Problem> {
    let way = WAYS.iter().find(|(number, ..)| *number == parameter);
    let (_, is_u85, compute) = *way.ok_or(Problem::Unsupported("pool with this number"))?;
    if is_u85 && !machine.npu.is_u85() {
        return Err(Problem::Contradiction("the pool is one of U85"));
    }
    let size = output::size(machine)?;
    let results = compute(machine, size)?;
    output::store(machine, results)
}

/// Computes the scaled results of a pool.
type Compute = fn(&Machine<'_, '_>, Size) -> Result<Volume, Problem>;

/// The ways by number, and whether only U85 has them.
const WAYS: &[(u16, bool, Compute)] = &[
    (0, false, |machine, size| scale(machine, fold(machine, size, |pixels| pixels.fold(i64::MIN, i64::max))?)),
    (1, false, average),
    (2, false, |machine, size| scale(machine, sum_of_channels(machine, size)?)),
    (3, true, |machine, size| scale(machine, fold(machine, size, sum)?)),
    (4, true, |machine, size| scale(machine, initial(machine, size)?)),
    (5, true, |machine, size| scale(machine, fold(machine, size, |pixels| pixels.fold(i64::MAX, i64::min))?)),
];

/// The values under a kernel, in one channel.
type Pixels<'p> = &'p mut dyn Iterator<Item = i64>;

fn sum(pixels: Pixels<'_>) -> i64 {
    pixels.fold(0, i64::wrapping_add)
}

/// Joins the values under the kernel that are not padding.
fn fold(machine: &Machine<'_, '_>, size: Size, join: impl Fn(Pixels<'_>) -> i64) -> Result<Volume, Problem> {
    let kernel = Kernel::of(&machine.registers)?;
    machine.spend(kernel.work(size, 1)?)?;
    let input = kernel.enlarge(IFM.load(machine, kernel.input(size, size.depth)?)?);
    let [height, width] = kernel.extent(size)?;
    Ok(Volume::of(size, |y, x, channel| {
        let rows = kernel.rows.inside(y, height).map(|row| kernel.rows.pixel(y, row));
        let columns = kernel.columns.inside(x, width).map(|column| kernel.columns.pixel(x, column));
        let mut pixels = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
        join(&mut pixels.by_ref().map(|(row, column)| input.broadcast(row, column, channel)))
    }))
}

/// The sum of the channels of each pixel.
fn sum_of_channels(machine: &Machine<'_, '_>, size: Size) -> Result<Volume, Problem> {
    let kernel = Kernel::of(&machine.registers)?;
    let depth = machine.registers.size(name::IFM_DEPTH_M1)?;
    if (kernel.rows.size, kernel.columns.size, size.depth) != (1, 1, 1) {
        return Err(Problem::Contradiction("the sum of channels has a kernel or several output channels"));
    }
    let input = kernel.enlarge(IFM.load(machine, kernel.input(size, depth)?)?);
    Ok(Volume::of(size, |y, x, _| {
        let pixel = input.pixel(kernel.rows.pixel(y, 0), kernel.columns.pixel(x, 0));
        pixel.iter().copied().fold(0, i64::wrapping_add)
    }))
}

/// Multiplies the results by the global scale, if the operation has one.
fn scale(machine: &Machine<'_, '_>, mut results: Volume) -> Result<Volume, Problem> {
    if output::is_global(&machine.registers)? {
        let scale = output::global(machine.npu, &machine.registers)?;
        results.values.iter_mut().for_each(|value| *value = scale.apply(*value));
    }
    Ok(results)
}

/// The average: on U55 and U65 a scale of all channels contains the division, otherwise the NPU counts pixels that are not padding.
fn average(machine: &Machine<'_, '_>, size: Size) -> Result<Volume, Problem> {
    let is_global = output::is_global(&machine.registers)?;
    let kernel = Kernel::of(&machine.registers)?;
    if !machine.npu.is_u85() && is_global {
        let is_whole = !kernel.has_padding();
        is_whole.then_some(()).ok_or(Problem::Unsupported("average with a scale and padding"))?;
        return scale(machine, fold(machine, size, sum)?);
    }
    let rounding = output::rounding(machine.npu, &machine.registers)?;
    let scale = output::global(machine.npu, &machine.registers)?;
    if is_global && (scale.factor, scale.shift) != (1, 0) {
        return Err(Problem::Unsupported("average with a scale"));
    }
    let mut sums = fold(machine, size, sum)?;
    let [height, width] = kernel.extent(size)?;
    let counts =
        size.pixels().map(|(y, x)| kernel.rows.inside(y, height).len() * kernel.columns.inside(x, width).len());
    for (pixel, count) in sums.values.chunks_mut(size.depth).zip(counts) {
        let division = reciprocal(count.max(1), rounding);
        pixel.iter_mut().for_each(|sum| *sum = division.apply(*sum));
    }
    Ok(sums)
}

/// The scale that divides by a number of pixels: `2^31 / count` with as many bits behind the point as 32 bits have room for, rounded up.
fn reciprocal(count: usize, rounding: Rounding) -> Scale {
    let bits = count.next_power_of_two().ilog2();
    let factor = ((1_i128 << (31 + bits)) + (1 << bits)) / count as i128;
    Scale::new(factor as i64, 31 + bits, rounding)
}

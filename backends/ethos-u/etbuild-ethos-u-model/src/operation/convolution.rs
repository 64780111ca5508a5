//! Convolutions, and depthwise convolutions, in which each output channel depends on one input channel.

use crate::fault::Problem;
use crate::feature_map::{IFM, IFM2};
use crate::kernel::Kernel;
use crate::machine::Machine;
use crate::registers::{bits, name};
use crate::volume::{Size, Volume};
use crate::weights::{self, Shape, Weights};
use crate::{output, scales};

/// A convolution.
pub fn convolution(machine: &mut Machine<'_, '_>, parameter: u16) -> Result<(), Problem> {
    if machine.npu.is_u85() && parameter & 1 != 0 {
        return Err(Problem::Unsupported("convolution with computed weights"));
    }
    let depth = machine.registers.size(name::IFM_DEPTH_M1)?;
    run(machine, depth, false)
}

/// A depthwise convolution.
pub fn depthwise(machine: &mut Machine<'_, '_>, _parameter: u16) -> Result<(), Problem> {
    let depth = output::size(machine)?.depth;
    run(machine, depth, true)
}

fn run(machine: &mut Machine<'_, '_>, depth: usize, is_depthwise: bool) -> Result<(), Problem> {
    let kernel = Kernel::of(&machine.registers)?;
    let size = output::size(machine)?;
    let inputs = if is_depthwise { 1 } else { depth };
    machine.spend(kernel.work(size, inputs)?)?;
    let input = kernel.enlarge(IFM.load(machine, kernel.input(size, depth)?)?);
    let [height, width] = [kernel.rows.size, kernel.columns.size];
    let shape = Shape { outputs: size.depth, height, width, inputs };
    let weights = weights::load(machine, shape, &kernel, is_depthwise)?;
    let sums = initial(machine, size)?;
    let operands = (&input, &weights);
    let sums = match is_depthwise {
        true => add(sums, operands, &kernel, of_one_channel)?,
        false => add(sums, operands, &kernel, of_all_channels)?,
    };
    let results = scale(machine, sums)?;
    output::store(machine, results)
}

/// The accumulators at the beginning: zero, or on U85 the second input.
pub fn initial(machine: &Machine<'_, '_>, size: Size) -> Result<Volume, Problem> {
    if !machine.npu.is_u85() {
        return Ok(Volume::of(size, |_, _, _| 0));
    }
    let format = machine.registers.parameter(name::ACC_FORMAT)?;
    match (bits(format, 4, 2), bits(format, 6, 1)) {
        (0, 0) => Ok(Volume::of(size, |_, _, _| 0)),
        (2, 0) => IFM2.load(machine, size),
        _ => Err(Problem::Unsupported("accumulators that operations pass on")),
    }
}

/// Adds what each element of the kernel contributes to an output channel: `product` gets the channels of a pixel of the input, the output channel,
/// and the weights of all input channels.
fn add(
    mut sums: Volume,
    (input, weights): (&Volume, &Weights),
    kernel: &Kernel,
    product: impl Fn(&[i64], usize, &[i16]) -> i64,
) -> Result<Volume, Problem> {
    let [height, width] = kernel.extent(sums.size)?;
    let positions = sums.size.pixels().flat_map(|(y, x)| (0..sums.size.depth).map(move |channel| (y, x, channel)));
    for ((y, x, channel), sum) in positions.zip(&mut sums.values) {
        for row in kernel.rows.inside(y, height) {
            for column in kernel.columns.inside(x, width) {
                let pixel = input.pixel(kernel.rows.pixel(y, row), kernel.columns.pixel(x, column));
                *sum = sum.wrapping_add(product(pixel, channel, weights.inputs(channel, row, column)));
            }
        }
    }
    Ok(sums)
}

/// The products of weights with all input channels.
fn of_all_channels(pixel: &[i64], _channel: usize, weights: &[i16]) -> i64 {
    let products = pixel.iter().zip(weights).map(|(value, weight)| value.wrapping_mul(i64::from(*weight)));
    products.fold(0, i64::wrapping_add)
}

/// The product of a weight with the input channel of the output channel's number.
fn of_one_channel(pixel: &[i64], channel: usize, weights: &[i16]) -> i64 {
    let (value, weight) = (pixel.get(channel).copied(), weights.first().copied());
    value.unwrap_or_default().wrapping_mul(i64::from(weight.unwrap_or_default()))
}

/// Adds biases, and scales each channel.
fn scale(machine: &Machine<'_, '_>, mut sums: Volume) -> Result<Volume, Problem> {
    let rounding = output::rounding(machine.npu, &machine.registers)?;
    let mut channels = scales::load(machine, sums.size.depth, rounding)?;
    if output::is_global(&machine.registers)? {
        let scale = output::global(machine.npu, &machine.registers)?;
        channels.iter_mut().for_each(|channel| channel.scale = scale);
    }
    for (sum, channel) in sums.values.iter_mut().zip(channels.iter().cycle()) {
        *sum = channel.scale.apply(sum.wrapping_add(channel.bias));
    }
    Ok(sums)
}

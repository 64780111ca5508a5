//! The spatial dimensions of convolutions and pools of any rank.

use et_cpu::Axis;
use etbuild_backend::Call;

use crate::Problem;

/// The numbers of a call for each of its spatial dimensions, by position of the argument.
pub struct Steps<'c> {
    /// The strides.
    pub stride: &'c [i64],
    /// The padding on both sides.
    pub padding: &'c [i64],
    /// The dilations.
    pub dilation: &'c [i64],
}

/// Depth, height and width of a convolution over images of one to three dimensions.
pub fn of_convolution(call: &Call<'_>) -> Result<[Axis; 3], Problem> {
    let steps = Steps { stride: call.ints(3)?, padding: call.ints(4)?, dilation: call.ints(5)? };
    let kernel = call.sizes(call.value(1)?);
    axes(&call.sizes(call.value(0)?), &call.output_sizes()?, kernel.get(2..).ok_or(Problem::Arguments)?, &steps)
}

/// Depth, height and width of images `[batch, channels, ...]`; the dimensions that images lack are absent.
pub fn axes(input: &[usize], output: &[usize], kernel: &[usize], steps: &Steps<'_>) -> Result<[Axis; 3], Problem> {
    let mut axes = [Axis::ABSENT; 3];
    let rank = kernel.len();
    let absent = axes.len().checked_sub(rank).ok_or(Problem::Arguments)?;
    for (position, axis) in axes.iter_mut().skip(absent).enumerate() {
        let size = |sizes: &[usize]| sizes.get(position + 2).map(|size| *size as u32).ok_or(Problem::Arguments);
        let step = |numbers: &[i64], default: u32| match numbers.get(position).or(numbers.first()) {
            Some(number) => u32::try_from(*number).map_err(|_| Problem::Arguments),
            None => Ok(default),
        };
        *axis = Axis {
            input: size(input)?,
            output: size(output)?,
            kernel: kernel[position] as u32,
            stride: step(steps.stride, 1)?,
            padding: step(steps.padding, 0)?,
            dilation: step(steps.dilation, 1)?,
        };
    }
    Ok(axes)
}

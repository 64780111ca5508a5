//! The sums of transposed convolutions: output lines are partitioned among tasks.

use et_core::Result;
use et_kernels::col2im::{self, Axis, col2im};

use crate::Col2im;
use crate::run::conv2d::activation;
use crate::split::{self, Context, count};

/// The minimum additions of a task.
const LEAST: usize = 1 << 13;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &Col2im) -> Result<()> {
    let axes @ [depth, height, width] = [fields.depth, fields.height, fields.width].map(axis);
    let [batch, groups, channels] = [fields.batch, fields.groups, fields.channels].map(|size| size as usize);
    let pixel = count(&[groups, channels])?;
    let taps = count(&axes.map(|axis| axis.kernel))?;
    let pixels = count(&axes.map(|axis| axis.input))?;
    let mut operands = context.memory.operands();
    let columns = operands.read(fields.columns, count(&[batch, pixels, taps, pixel])?)?;
    let bias = operands.read_present(fields.bias, pixel)?;
    let line = count(&[width.output, pixel])?;
    let output = operands.write::<f32>(*fields.output, count(&[batch, depth.output, height.output, line])?)?;
    let activation = activation(&fields.activation);
    let work = col2im::Col2im { axes, groups, channels, columns, bias, activation };
    // A column is added once, so that a line has as many additions as its share of the columns.
    let lines = count(&[batch, depth.output, height.output])?;
    let additions = (columns.len() / lines.max(1)).max(line).max(1);
    let level = context.level;
    split::runs(context, output, line, LEAST / additions + 1, |lines, output, _| col2im(level, &work, lines, output))
}

fn axis(fields: crate::Axis) -> Axis {
    let crate::Axis { input, output, kernel, stride, padding, dilation } = fields;
    let [input, output, kernel] = [input, output, kernel].map(|size| size as usize);
    let [stride, padding, dilation] = [stride, padding, dilation].map(|size| size as usize);
    Axis { input, output, kernel, stride, padding, dilation }
}

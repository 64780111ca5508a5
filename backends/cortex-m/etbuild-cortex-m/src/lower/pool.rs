//! Pools and means over pixels.

use et_cortex_m::requantize::FRACTION;
use et_cortex_m::{Average, Maximum, Multiplier, Window};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Argument, Links, Node};

use super::product::{image, pair};
use super::{Lowering, Order, bounds, cut};
use crate::capability::{self, Check, int8_operand, moves, no, quantized};
use crate::pattern::{self, Epilogue};

/// Accepts pools of images, and means over all pixels.
pub fn check(links: &Links<'_>, node: &Node) -> Check {
    let name = node.operator.name();
    if name == "max_pool2d_with_indices" {
        if node.outputs.get(1).is_some_and(|indices| links.read_count(*indices) > 0) {
            return Err(no(RefusalKind::Argument, "the places of the greatest elements are read"));
        }
        window(links, node)?;
        return moves(links, node);
    }
    if name == "avg_pool2d" {
        let is_default = matches!(node.arguments.get(6), None | Some(Argument::None));
        let includes = node.arguments.get(5) != Some(&Argument::Bool(false));
        let pad = pair(node, 3, 0, 2)?;
        if !is_default || flag(node, 4) || !(includes || pad == [0, 0]) {
            return Err(no(RefusalKind::Argument, "windows at the border have other divisors"));
        }
    }
    window(links, node)?;
    int8_operand(links, node)?;
    quantized(links, node).map(|_| ())
}

fn flag(node: &Node, position: usize) -> bool {
    node.arguments.get(position) == Some(&Argument::Bool(true))
}

/// The window of a pool, or of a mean over all pixels.
fn window(links: &Links<'_>, node: &Node) -> Result<Window, Refusal> {
    let sizes =
        |id| links.graph.spec(id).sizes.iter().map(|size| u32::try_from(*size).unwrap_or(0)).collect::<Vec<_>>();
    let input = pattern::first(node).map(sizes).filter(|sizes| sizes.len() == 4);
    let [batch, channels, height, width] = input
        .and_then(|sizes| image(&sizes))
        .ok_or_else(|| no(RefusalKind::Shape, "the operand is no batch of images"))?;
    let (in_channels, out_channels) = (channels, channels);
    if node.operator.name() == "mean" {
        let Some(Argument::Ints(dims)) = node.arguments.get(1) else {
            return Err(no(RefusalKind::Argument, "the dimensions of the mean are not known"));
        };
        let mut dims: Vec<i64> = dims.iter().map(|dim| dim.rem_euclid(4)).collect();
        dims.sort_unstable();
        if dims != [2, 3] {
            return Err(no(RefusalKind::Argument, "the mean is over other dimensions than pixels"));
        }
        let whole =
            Window { batch, in_height: height, in_width: width, in_channels, out_channels, ..Window::default() };
        let (kernel_height, kernel_width) = (height, width);
        let whole = Window { out_height: 1, out_width: 1, kernel_height, kernel_width, ..whole };
        return Ok(Window { stride_height: 1, stride_width: 1, dilation_height: 1, dilation_width: 1, ..whole });
    }
    let output = sizes(capability::output(node)?);
    let [_, _, out_height, out_width] =
        image(&output).ok_or_else(|| no(RefusalKind::Shape, "the result is no image"))?;
    let kernel = pair(node, 1, 1, 2)?;
    let stride = match node.arguments.get(2) {
        Some(Argument::Ints(numbers)) if !numbers.is_empty() => pair(node, 2, 1, 2)?,
        _ => kernel,
    };
    let pad = pair(node, 3, 0, 2)?;
    let dilation = if node.operator.name() == "avg_pool2d" { [1, 1] } else { pair(node, 4, 1, 2)? };
    Ok(Window {
        batch,
        in_height: height,
        in_width: width,
        in_channels,
        out_height,
        out_width,
        out_channels,
        kernel_height: kernel[0],
        kernel_width: kernel[1],
        stride_height: stride[0],
        stride_width: stride[1],
        pad_top: pad[0],
        pad_left: pad[1],
        dilation_height: dilation[0],
        dilation_width: dilation[1],
    })
}

impl Lowering<'_> {
    /// A pool or mean.
    pub(super) fn pool(&mut self, node: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        let (window, operand) = (window(self.links, node)?, int8_operand(self.links, node)?);
        let (to, qparams) = epilogue.quantized.ok_or_else(cut)?;
        let input = self.ordered(operand.id, Order::Nhwc)?.place();
        let output = self.create(to, Order::Nhwc).place();
        if node.operator.name() == "max_pool2d_with_indices" {
            self.program.emit(Maximum { input, output, window }, self.name(to));
            return Ok(());
        }
        let count = f64::from(window.kernel_height * window.kernel_width);
        let ratio = operand.qparams.scale / qparams.scale;
        // A sum is below 2^8 for each element.
        if ratio >= 256.0 {
            return Err(no(RefusalKind::Quantization, "the scales of operand and result differ too much"));
        }
        let scale = Multiplier::of(ratio / count * f64::from(1 << FRACTION));
        let step = Average {
            input,
            output,
            window,
            input_zero: operand.qparams.zero,
            scale,
            bounds: bounds(epilogue, qparams),
        };
        self.program.emit(step, self.name(to));
        Ok(())
    }
}

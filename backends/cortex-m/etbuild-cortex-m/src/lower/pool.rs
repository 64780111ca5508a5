//! Pools and means over pixels.

use et_cortex_m::requantize::FRACTION;
use et_cortex_m::{Average, Maximum, Multiplier, Window};
use etbuild_backend::{Call, Geometry, Refusal, RefusalKind, image_sizes};
use etbuild_ir::{Argument, Links, Node};

use super::window::window as of_pool;
use super::{Lowering, Order, bounds, cut};
use etbuild_backend::int8::pattern::{Check, Epilogue, int8_operand, moves, no, quantized};

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
        let pad = Call::new(links, node).pool()?.padding;
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
pub(super) fn window(links: &Links<'_>, node: &Node) -> Result<Window, Refusal> {
    let call = Call::new(links, node);
    let sizes = call.sizes(call.value(0)?);
    let input = match sizes[..] {
        [batch, channels, height, width] => [batch, channels, height, width],
        // A row of pixels.
        [batch, channels, width] if node.operator.name() == "mean" => [batch, channels, 1, width],
        _ => return Err(no(RefusalKind::Shape, "the operand is no batch of images")),
    };
    if node.operator.name() != "mean" {
        return Ok(of_pool(input, image_sizes(&call.output_sizes()?)?, call.pool()?));
    }
    let [batch, channels, height, width] = input;
    let rank = sizes.len() as i64;
    let mut dims: Vec<i64> = call.ints(1)?.iter().map(|dim| dim.rem_euclid(rank)).collect();
    dims.sort_unstable();
    if !dims.into_iter().eq(2..rank) {
        return Err(no(RefusalKind::Argument, "the mean is over other dimensions than pixels"));
    }
    let kernel = [height as u32, width as u32];
    let geometry = Geometry { kernel, stride: [1; 2], padding: [0; 2], dilation: [1; 2] };
    Ok(of_pool(input, [batch, channels, 1, 1], geometry))
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

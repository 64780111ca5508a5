//! Pools and means over pixels.

use et_cortex_m::{Average16, Maximum16, Multiplier};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Links, Node};

use super::super::{Order, pool};
use super::{Lowering, cut, limits, reduced};
use etbuild_backend::int8::pattern::{Check, Epilogue, int8_operand, no};

/// Windows whose sums could exceed 31 bits have so many pixels.
const MOST_PIXELS: u32 = 1 << 16;

/// Accepts the pools that int8 has, with one scale for a pool's operand and result.
pub fn check(links: &Links<'_>, node: &Node, epilogue: &Epilogue) -> Check {
    pool::check(links, node)?;
    let window = pool::window(links, node)?;
    if window.taps().map_or(true, |taps| taps as u32 >= MOST_PIXELS) {
        return Err(no(RefusalKind::Shape, "the window is too large"));
    }
    divisor(links, node, epilogue).map(|_| ())
}

/// The divisor, factor and shift of a sum.
fn divisor(links: &Links<'_>, node: &Node, epilogue: &Epilogue) -> Result<(u32, i32, i32), Refusal> {
    let (window, operand) = (pool::window(links, node)?, int8_operand(links, node)?);
    let (_, qparams) = epilogue.quantized.ok_or_else(cut)?;
    let pixels = window.kernel_height * window.kernel_width;
    if operand.qparams == qparams {
        return Ok((pixels, 0, 0));
    }
    let (factor, shift) = reduced(quotient(Multiplier::of(operand.qparams.scale / qparams.scale), pixels));
    let fits = (8..63).contains(&shift) && ((i64::from(pixels) << 15) * i64::from(factor)) >> shift < 1 << 31;
    fits.then_some((0, factor, shift))
        .ok_or_else(|| no(RefusalKind::Quantization, "the scales of operand and result differ too much"))
}

/// A factor divided by a number of elements, as TensorFlow Lite's mean divides it.
fn quotient(Multiplier { multiplier, shift }: Multiplier, count: u32) -> Multiplier {
    let more = (count.max(1).ilog2() as i32).min(31 + shift).max(0);
    let multiplier = ((i64::from(multiplier) << more) / i64::from(count.max(1))) as i32;
    Multiplier { multiplier, shift: shift - more }
}

impl Lowering<'_> {
    /// A pool or mean.
    pub(super) fn pool16(&mut self, node: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        let (window, operand) = (pool::window(self.links, node)?, int8_operand(self.links, node)?);
        let (to, qparams) = epilogue.quantized.ok_or_else(cut)?;
        let input = self.ordered(operand.id, Order::Nhwc)?.place();
        let output = self.create(to, Order::Nhwc).place();
        if node.operator.name() == "max_pool2d_with_indices" {
            self.program.emit(Maximum16 { input, output, window }, self.name(to));
            return Ok(());
        }
        let (divisor, multiplier, shift) = divisor(self.links, node, epilogue)?;
        let limits = limits(epilogue, qparams);
        let step = Average16 { input, output, window, divisor, multiplier, shift, limits };
        self.program.emit(step, self.name(to));
        Ok(())
    }
}

//! `mylib::fused_gate`: `x` times the sigmoid of `alpha` times `gate`.

use et_core::{Args, Float, Result};
use et_ops::dispatch;
use et_ops::family::binary;
use et_ops::math::Math;

/// The kernel for the dtypes in `D`: the arguments of the schema in order, then the out tensor. `zip` broadcasts, and resizes the out tensor.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (x, gate, alpha, out) = (args.tensor(0)?, args.tensor(1)?, args.double(2)?, args.tensor(3)?);
    dispatch!(D, x.scalar_type(), floats, T => {
        binary::zip::<T, T, D>([&x, &gate, &out], |x: T, gate: T| T::narrow(gated(x.widen(), gate.widen(), alpha)))
    })
}

fn gated<M: Math>(x: M, gate: M, alpha: f64) -> M {
    x / (M::ONE + (-(M::from_f64(alpha) * gate)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_gate_passes_and_a_closed_gate_does_not() {
        assert_eq!(gated(3.0_f32, 0.0, 1.0), 1.5);
        assert_eq!(gated(3.0_f32, 100.0, 1.0), 3.0);
        assert_eq!(gated(3.0_f32, -200.0, 1.0), 0.0);
    }
}

//! Vectorized math functions, with the error bounds that the tests check. Errors are in ULP (units in the last place).
//!
//! Coefficients are minimax fits of the functions divided by the leading term, computed for this crate.

mod erf;
mod exp;
mod gelu;
mod linear;
mod sigmoid;
mod tanh;
#[cfg(test)]
mod test;

pub use erf::erf;
pub use exp::exp;
pub use gelu::{gelu, gelu_tanh};
pub use linear::{clamp, hard_sigmoid};
pub use sigmoid::{sigmoid, silu};
pub use tanh::tanh;

use crate::{Float, Simd};

/// Evaluates a polynomial in `x`, lowest coefficient first, by Horner's rule.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(isa: S, x: S::F32, coefficients: [f32; N]) -> S::F32 {
    let mut sum = isa.splat(coefficients[N - 1]);
    for index in (0..N - 1).rev() {
        sum = sum.mul_add(x, isa.splat(coefficients[index]));
    }
    sum
}

//! Functions of vectors, with the error that the tests allow. A unit is the distance of the result to the next `f32`.
//!
//! Coefficients are fits of least greatest error to the functions' quotients by their leading terms, made for this file.

mod erf;
mod exp;
mod gelu;
mod sigmoid;
mod tanh;
#[cfg(test)]
mod test;

pub use erf::erf;
pub use exp::exp;
pub use gelu::gelu;
pub use sigmoid::sigmoid;
pub use tanh::tanh;

use crate::{Float, Isa};

/// A polynomial in `x`, lowest coefficient first, by the rule of Horner.
#[inline(always)]
fn polynomial<S: Isa, const N: usize>(isa: S, x: S::F32, coefficients: [f32; N]) -> S::F32 {
    let mut sum = isa.splat(coefficients[N - 1]);
    for index in (0..N - 1).rev() {
        sum = sum.mul_add(x, isa.splat(coefficients[index]));
    }
    sum
}

//! Vectorized activations.
#![allow(unsafe_op_in_unsafe_fn, reason = "every function is arithmetic under the contract of `Lanes`")]

use super::Lanes;
use crate::activation::Activation;

/// Applies an activation to a vector.
///
/// # Safety
///
/// The CPU has the ISA of `L`.
#[inline(always)]
pub unsafe fn activate<L: Lanes>(activation: Activation, value: L) -> L {
    match activation {
        Activation::None => value,
        Activation::Clamp(least, most) => value.at_least(least).at_most(most),
        Activation::HardSwish => value.multiply(hard_sigmoid(value)),
        Activation::HardSigmoid => hard_sigmoid(value),
        Activation::Gelu => {
            let half = value.multiply(L::splat(0.5));
            half.multiply_add(error_function_of_root(value), half)
        }
        Activation::GeluTanh => value.multiply(sigmoid(gelu_inner(value))),
        Activation::Silu => value.multiply(sigmoid(value)),
        Activation::Sigmoid => sigmoid(value),
    }
}

#[inline(always)]
unsafe fn hard_sigmoid<L: Lanes>(value: L) -> L {
    value.add(L::splat(3.0)).at_least(0.0).at_most(6.0).multiply(L::splat(1.0 / 6.0))
}

/// `(1 + tanh(z)) / 2` is the sigmoid of `2 z`, with `z = sqrt(2 / pi) * (x + 0.044715 x^3)`.
#[inline(always)]
unsafe fn gelu_inner<L: Lanes>(value: L) -> L {
    const TWICE: f32 = 1.595_769;
    let square = value.multiply(value);
    value.multiply(square.multiply_add(L::splat(0.044_715 * TWICE), L::splat(TWICE)))
}

#[inline(always)]
unsafe fn sigmoid<L: Lanes>(value: L) -> L {
    let one = L::splat(1.0);
    one.divide(one.add(exponential(L::splat(0.0).subtract(value))))
}

/// `e^x` with a relative error of 2e-7, for results from 2e-38 to 2e38.
#[inline(always)]
unsafe fn exponential<L: Lanes>(value: L) -> L {
    let value = value.at_least(-87.0).at_most(88.0);
    let whole = value.multiply(L::splat(core::f32::consts::LOG2_E)).round();
    let rest = whole.multiply_add(L::splat(-0.693_359_4), value);
    let rest = whole.multiply_add(L::splat(2.121_944_4e-4), rest);
    let series = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    polynomial(rest, &series).multiply(whole.power_of_two())
}

/// `erf(x / sqrt(2))` with an error of 4e-7: `x` times a rational function of `x^2`, a minimax fit up to [`FAR`],
/// beyond which the `f32` result is 1. Takes half the instructions of a formula with an exponential.
#[inline(always)]
unsafe fn error_function_of_root<L: Lanes>(value: L) -> L {
    const FAR: f32 = 5.6;
    const ABOVE: [f32; 6] = [4.428_829e-8, 1.271_207_3e-5, 3.476_662_4e-4, 9.414_305e-3, 6.874_96e-2, 7.978_844_4e-1];
    const BELOW: [f32; 6] = [1.180_140_1e-6, 7.509_422e-5, 1.912_882_8e-3, 2.893_927e-2, 2.528_305_6e-1, 1.0];
    let value = value.at_least(-FAR).at_most(FAR);
    let square = value.multiply(value);
    value.multiply(polynomial(square, &ABOVE)).divide(polynomial(square, &BELOW))
}

/// Evaluates a polynomial, highest power first.
#[inline(always)]
unsafe fn polynomial<L: Lanes>(value: L, series: &[f32]) -> L {
    let (first, others) = series.split_first().unwrap_or((&0.0, &[]));
    let mut sum = L::splat(*first);
    for &coefficient in others {
        sum = sum.multiply_add(value, L::splat(coefficient));
    }
    sum
}

//! Activations of vectors.
#![allow(unsafe_op_in_unsafe_fn, reason = "every function is arithmetic under the contract of `Lanes`")]

use super::Lanes;
use crate::activation::Activation;

/// Applies an activation to a vector.
///
/// # Safety
///
/// The processor has the instructions of `L`.
#[inline(always)]
pub unsafe fn activate<L: Lanes>(activation: Activation, value: L) -> L {
    match activation {
        Activation::None => value,
        Activation::Clamp(least, most) => value.at_least(least).at_most(most),
        Activation::HardSwish => value.multiply(hard_sigmoid(value)),
        Activation::HardSigmoid => hard_sigmoid(value),
        Activation::Gelu => {
            let scaled = value.multiply(L::splat(core::f32::consts::FRAC_1_SQRT_2));
            let half = value.multiply(L::splat(0.5));
            half.multiply_add(error_function(scaled), half)
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

/// `e^x` within 2e-7 of its value, from 2e-38 to 2e38.
#[inline(always)]
unsafe fn exponential<L: Lanes>(value: L) -> L {
    let value = value.at_least(-87.0).at_most(88.0);
    let whole = value.multiply(L::splat(core::f32::consts::LOG2_E)).round();
    let rest = whole.multiply_add(L::splat(-0.693_359_4), value);
    let rest = whole.multiply_add(L::splat(2.121_944_4e-4), rest);
    let series = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    polynomial(rest, &series).multiply(whole.power_of_two())
}

/// Within 2e-7: Abramowitz and Stegun, 7.1.26.
#[inline(always)]
unsafe fn error_function<L: Lanes>(value: L) -> L {
    let one = L::splat(1.0);
    let magnitude = value.with_sign_of(one);
    let inverse = one.divide(magnitude.multiply_add(L::splat(0.327_591_1), one));
    let series = [1.061_405_4, -1.453_152_1, 1.421_413_8, -0.284_496_74, 0.254_829_6, 0.0];
    let tail = exponential(L::splat(0.0).subtract(magnitude).multiply(magnitude));
    one.subtract(polynomial(inverse, &series).multiply(tail)).with_sign_of(value)
}

/// A polynomial, highest power first.
#[inline(always)]
unsafe fn polynomial<L: Lanes>(value: L, series: &[f32]) -> L {
    let mut sum = L::splat(0.0);
    for &coefficient in series {
        sum = sum.multiply_add(value, L::splat(coefficient));
    }
    sum
}

//! Bessel functions of orders 0 and 1.
//!
//! Power series near 0, and Hankel's asymptotic expansions from `FAR` or `FAR_MODIFIED` on. The functions of the
//! second kind of imaginary arguments (`k0`, `k1`) are integrals over the real line, for which the trapezoidal rule
//! converges exponentially. The error is below 1e-10 of the amplitude. Source: DLMF, chapter 10.

use core::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, PI, TAU};

use crate::math::Math;

/// From here on the expansion of the oscillating functions is used.
const FAR: f64 = 13.0;
/// From here on the expansion of the modified functions is used.
const FAR_MODIFIED: f64 = 20.0;
/// Below, the first term of the series is exact.
const NEAR: f64 = 1e-17;
/// The Euler-Mascheroni constant.
const EULER: f64 = 0.577_215_664_901_532_9;
/// The step of the trapezoidal rule.
const STEP: f64 = 0.125;

/// `J_0(x)`.
pub fn j0(x: f64) -> f64 {
    if x.abs() < FAR { series(0, x, -1.0) } else { oscillating(0.0, x.abs())[0] }
}

/// `J_1(x)`.
pub fn j1(x: f64) -> f64 {
    let value = if x.abs() < FAR { series(1, x.abs(), -1.0) } else { oscillating(1.0, x.abs())[0] };
    if x < 0.0 { -value } else { value }
}

/// `Y_0(x)`: NaN below 0.
pub fn y0(x: f64) -> f64 {
    second_kind(0, x)
}

/// `Y_1(x)`: NaN below 0.
pub fn y1(x: f64) -> f64 {
    second_kind(1, x)
}

/// `I_0(x)`.
pub fn i0(x: f64) -> f64 {
    i0e(x) * Math::exp(x.abs())
}

/// `exp(-|x|) I_0(x)`.
pub fn i0e(x: f64) -> f64 {
    scaled_modified(0, x)
}

/// `I_1(x)`.
pub fn i1(x: f64) -> f64 {
    i1e(x) * Math::exp(x.abs())
}

/// `exp(-|x|) I_1(x)`.
pub fn i1e(x: f64) -> f64 {
    scaled_modified(1, x)
}

/// `K_0(x)`.
pub fn k0(x: f64) -> f64 {
    k0e(x) * Math::exp(-x)
}

/// `exp(x) K_0(x)`.
pub fn k0e(x: f64) -> f64 {
    scaled_second_modified(0.0, x)
}

/// `K_1(x)`.
pub fn k1(x: f64) -> f64 {
    k1e(x) * Math::exp(-x)
}

/// `exp(x) K_1(x)`.
pub fn k1e(x: f64) -> f64 {
    scaled_second_modified(1.0, x)
}

/// The spherical Bessel function `sin(x) / x`.
pub fn spherical_j0(x: f64) -> f64 {
    match x.abs() {
        infinite if infinite == f64::INFINITY => 0.0,
        small if small < 1e-4 => 1.0 - x * x / 6.0,
        _ => Math::sin(x) / x,
    }
}

/// `exp(x) K_v(x)` for order 0 or 1, or an order between and numbers from `NEAR` on: infinite at 0, NaN below.
pub fn scaled_second_modified(order: f64, x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::INFINITY;
    }
    if x < NEAR {
        return if order == 0.0 { -Math::ln(x / 2.0) - EULER } else { 1.0 / x };
    }
    if x > FAR_MODIFIED {
        return Math::sqrt(FRAC_PI_2 / x) * expansion(order, x, 1.0);
    }
    // The integral of exp(-x (cosh t - 1)) cosh(v t) over t from 0.
    let mut sum = 0.5;
    for index in 1..1000 {
        let t = f64::from(index) * STEP;
        let term = Math::exp(-x * (Math::cosh(t) - 1.0)) * Math::cosh(order * t);
        sum += term;
        if term <= sum * 1e-18 {
            break;
        }
    }
    sum * STEP
}

/// `(x/2)^n` times the sum of `(sign x^2/4)^k / (k! (k+n)!)`: `J_n` for sign -1, `I_n` for sign 1.
fn series(order: u32, x: f64, sign: f64) -> f64 {
    let square = sign * x * x / 4.0;
    let mut term = if order == 0 { 1.0 } else { x / 2.0 };
    let mut sum = term;
    for k in 1..200_u32 {
        term *= square / (f64::from(k) * f64::from(k + order));
        sum += term;
        if term.abs() <= sum.abs() * 1e-18 {
            break;
        }
    }
    sum
}

/// Coefficient `k` of Hankel's expansions, divided by `x^k`, from the coefficient before.
fn next(before: f64, order: f64, x: f64, k: u32) -> f64 {
    let odd = f64::from(2 * k - 1);
    before * (4.0 * order * order - odd * odd) / (f64::from(k) * 8.0 * x)
}

/// The sum of `sign^k a_k(v) / x^k` up to the least term.
fn expansion(order: f64, x: f64, sign: f64) -> f64 {
    let (mut term, mut sum) = (1.0_f64, 1.0_f64);
    for k in 1..60 {
        let following = next(term, order, x, k) * sign;
        if following.abs() >= term.abs() || following.abs() < 1e-18 {
            break;
        }
        term = following;
        sum += term;
    }
    sum
}

/// `J_v` and `Y_v` of a large positive number.
fn oscillating(order: f64, x: f64) -> [f64; 2] {
    if x == f64::INFINITY {
        return [0.0, 0.0];
    }
    let (mut term, mut sums) = (1.0_f64, [1.0, 0.0]);
    for k in 1..60_u32 {
        let following = next(term, order, x, k);
        if following.abs() >= term.abs() || following.abs() < 1e-18 {
            break;
        }
        term = following;
        // The signs are + - - + ... of both sums in turn.
        sums[(k % 2) as usize] += if (k / 2) % 2 == 0 { term } else { -term };
    }
    let phase = x % TAU - order * FRAC_PI_2 - FRAC_PI_4;
    let (sine, cosine) = (Math::sin(phase), Math::cos(phase));
    let amplitude = Math::sqrt(FRAC_2_PI / x);
    [amplitude * (sums[0] * cosine - sums[1] * sine), amplitude * (sums[0] * sine + sums[1] * cosine)]
}

fn second_kind(order: u32, x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x >= FAR {
        return oscillating(f64::from(order), x)[1];
    }
    let first = FRAC_2_PI * (Math::ln(x / 2.0) + EULER) * series(order, x, -1.0);
    // The sum of (-x^2/4)^k (H_k + H_(k+n)) / (k! (k+n)!), with harmonic numbers H.
    let (square, mut harmonic) = (-x * x / 4.0, 0.0);
    let mut term = if order == 0 { 1.0 } else { x / 2.0 };
    let mut sum = if order == 0 { 0.0 } else { term };
    for k in 1..200_u32 {
        term *= square / (f64::from(k) * f64::from(k + order));
        harmonic += 1.0 / f64::from(k);
        let behind = if order == 0 { harmonic } else { harmonic + 1.0 / f64::from(k + 1) };
        let added = term * (harmonic + behind);
        sum += added;
        if added.abs() <= sum.abs() * 1e-18 {
            break;
        }
    }
    let pole = if order == 0 { 0.0 } else { FRAC_2_PI / x };
    first - pole - sum / PI
}

fn scaled_modified(order: u32, x: f64) -> f64 {
    let size = x.abs();
    if size.is_nan() {
        return x;
    }
    let value = if size < FAR_MODIFIED {
        series(order, size, 1.0) * Math::exp(-size)
    } else {
        expansion(f64::from(order), size, -1.0) / Math::sqrt(TAU * size)
    };
    if order == 1 && x < 0.0 { -value } else { value }
}

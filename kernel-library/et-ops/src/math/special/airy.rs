//! The Airy function.
//!
//! Maclaurin series near 0; above, a modified Bessel function of order 1/3; below, an asymptotic expansion. The error is
//! below 1e-10 of the amplitude. Source: DLMF, chapter 9.

use core::f64::consts::{FRAC_PI_4, PI};

use super::bessel::scaled_second_modified;
use crate::math::Math;

/// `Ai(0)` and `-Ai'(0)`.
const START: [f64; 2] = [0.355_028_053_887_817_2, 0.258_819_403_792_806_8];

/// `Ai(x)`.
pub fn ai(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let power = 2.0 / 3.0 * x.abs() * Math::sqrt(x.abs());
    match x {
        x if x > 1.0 => {
            let bessel = scaled_second_modified(1.0 / 3.0, power) * Math::exp(-power);
            if x == f64::INFINITY { 0.0 } else { Math::sqrt(x / 3.0) / PI * bessel }
        }
        x if x < -7.0 => oscillating(x.abs(), power),
        x => series(x),
    }
}

/// Two series in `x^3`.
fn series(x: f64) -> f64 {
    let cube = x * x * x;
    let (mut even, mut odd) = (START[0], START[1] * x);
    let mut sum = even - odd;
    for k in 1..100 {
        let n = f64::from(3 * k);
        even *= cube / (n * (n - 1.0));
        odd *= cube / (n * (n + 1.0));
        sum += even - odd;
        if even.abs() + odd.abs() < 1e-20 {
            break;
        }
    }
    sum
}

/// `Ai(-x)` of a large `x`, where `power` is `2/3 x^(3/2)`.
fn oscillating(x: f64, power: f64) -> f64 {
    if x == f64::INFINITY {
        return 0.0;
    }
    let (mut term, mut sums) = (1.0_f64, [1.0, 0.0]);
    for k in 1..60_u32 {
        let n = f64::from(6 * k);
        let following =
            term * (n - 5.0) * (n - 3.0) * (n - 1.0) / (216.0 * f64::from(k) * f64::from(2 * k - 1) * power);
        if following >= term || following < 1e-18 {
            break;
        }
        term = following;
        sums[(k % 2) as usize] += if (k / 2) % 2 == 0 { term } else { -term };
    }
    let phase = power - FRAC_PI_4;
    (sums[0] * Math::cos(phase) + sums[1] * Math::sin(phase)) / Math::sqrt(PI * Math::sqrt(x))
}

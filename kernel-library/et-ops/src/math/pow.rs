//! `pow`: `e^(y ln x)` with the logarithm and the product in twice the precision.
//!
//! Within 1.5 ulp in `f32`, 2 in `f64`. The special cases follow ISO C, F.10.4.4.

use super::exp::exp_of_sum;
use super::ln::Ln;
use super::pair::Pair;

/// The first coefficients of `artanh(s) / s`, more precisely than the format, and a bound on exponents.
pub trait Pow: Ln {
    /// 1/3.
    const THIRD: Pair<Self>;
    /// 1/5.
    const FIFTH: Pair<Self>;
    /// 1/7, 1/9, ...
    const TAIL: &'static [Self];
    /// A greater exponent takes every base but 1 to 0 or infinity.
    const HUGE: Self;
}

impl Pow for f32 {
    const THIRD: Pair<Self> = Pair { high: 1.0 / 3.0, low: -9.934_108e-9 };
    const FIFTH: Pair<Self> = Pair { high: 0.2, low: -2.980_232_3e-9 };
    const TAIL: &'static [Self] = &[1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0];
    const HUGE: Self = 17_179_869_184.0;
}

impl Pow for f64 {
    const THIRD: Pair<Self> = Pair { high: 1.0 / 3.0, low: 1.850_371_707_708_594e-17 };
    const FIFTH: Pair<Self> = Pair { high: 0.2, low: -1.110_223_024_625_156_6e-17 };
    const TAIL: &'static [Self] = &[
        1.0 / 7.0,
        1.0 / 9.0,
        1.0 / 11.0,
        1.0 / 13.0,
        1.0 / 15.0,
        1.0 / 17.0,
        1.0 / 19.0,
        1.0 / 21.0,
        1.0 / 23.0,
        1.0 / 25.0,
    ];
    const HUGE: Self = 18_446_744_073_709_551_616.0;
}

/// `x^y`.
pub fn pow<F: Pow>(x: F, y: F) -> F {
    if y == F::ZERO || x == F::ONE {
        return F::ONE;
    }
    if x.is_nan() || y.is_nan() {
        return F::NAN;
    }
    let magnitude = magnitude_power(x.magnitude(), y);
    match (x.is_signed(), parity(y)) {
        (true, Parity::Odd) => -magnitude,
        (true, Parity::Neither) if x != F::ZERO && x != F::LOWEST && y.magnitude() != F::HIGHEST => F::NAN,
        _ => magnitude,
    }
}

enum Parity {
    Even,
    Odd,
    Neither,
}

/// Which integer `y` is; beyond the fraction's bits all are even, and so are the infinities.
fn parity<F: Pow>(y: F) -> Parity {
    if y.magnitude() >= F::TWO * F::INTEGERS {
        return Parity::Even;
    }
    let integer = y.to_i64();
    match integer & 1 {
        _ if F::from_i64(integer) != y => Parity::Neither,
        0 => Parity::Even,
        _ => Parity::Odd,
    }
}

/// `x^y` for `x >= 0`.
fn magnitude_power<F: Pow>(x: F, y: F) -> F {
    let growing = (x > F::ONE) == (y > F::ZERO);
    if x == F::ONE {
        F::ONE
    } else if x == F::ZERO || x == F::HIGHEST || y.magnitude() > F::HUGE {
        if growing { F::HIGHEST } else { F::ZERO }
    } else {
        let power = precise_ln(x).times(Pair::from(y));
        exp_of_sum(power.high, power.low)
    }
}

/// `ln x` for a positive finite `x`: `k ln 2 + 2 artanh s` with `s = (m - 1) / (m + 1)`.
pub fn precise_ln<F: Pow>(x: F) -> Pair<F> {
    let (fraction, exponent) = x.normalize();
    let s = Pair::sum(fraction, F::ONE).divides(fraction - F::ONE);
    let square = s.times(s);
    let inner = F::FIFTH.plus(Pair::from(square.high * square.high.polynomial(F::TAIL)));
    let series = square.times(F::THIRD.plus(square.times(inner)));
    let artanh = s.plus(s.times(series));
    let count = F::from_i32(exponent);
    let from_exponent = Pair::sum(count * F::LN_2_HIGH, count * F::LN_2_LOW);
    from_exponent.plus(artanh.plus(artanh))
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::math::test::{spread, worst32, worst64};

    const EXPONENTS: [f64; 9] = [0.5, -1.0, 2.0, 3.7, -7.25, 0.001, 30.0, -0.3, 700.0];

    #[test]
    fn error_bounds() {
        for y in EXPONENTS {
            let bases: Vec<f64> = spread(0.001, 1000.0).into_iter().filter(|x| *x > 0.0).collect();
            let normal = |x: &f64| (1e-37..3e38).contains(&x.powf(y));
            let singles: Vec<f64> = bases.iter().copied().filter(normal).collect();
            let (error, at) = worst32(&singles, |x| pow(x, y as f32), |x| x.powf(f64::from(y as f32)));
            assert!(error <= 1.5, "{error} ulp at {at}^{y}");
            let normal = |x: &f64| (1e-307..1e308).contains(&x.powf(y));
            let doubles: Vec<f64> = bases.iter().copied().filter(normal).collect();
            let (error, at) = worst64(&doubles, |x| pow(x, y), |x| x.powf(y));
            assert!(error <= 2.0, "{error} ulp at {at}^{y}");
        }
    }

    #[test]
    fn special_cases_are_those_of_the_host() {
        let inf = f64::INFINITY;
        let values =
            [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, inf, -inf, f64::NAN, 1e300, -1e300, 5e-324];
        for (x, y) in values.iter().flat_map(|x| values.map(|y| (*x, y))) {
            let (got, host) = (pow(x, y), x.powf(y));
            let same = got.to_bits() == host.to_bits() || (got.is_nan() && host.is_nan());
            assert!(same || (got - host).abs() <= host.abs() * 3e-16, "{x}^{y}: {got}, not {host}");
            let (x, y) = (x as f32, y as f32);
            let (got, host) = (pow(x, y), x.powf(y));
            let same = got.to_bits() == host.to_bits() || (got.is_nan() && host.is_nan());
            assert!(same || (got - host).abs() <= host.abs() * 2e-7, "{x}^{y}: {got}, not {host}");
        }
    }
}

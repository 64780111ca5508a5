//! The Hurwitz zeta function, by the Euler-Maclaurin formula. Source: DLMF, section 25.11.

use crate::math::Math;

/// `B_2k / (2k)!` for `k` from 1, with Bernoulli numbers `B`.
const BERNOULLI: [f64; 10] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    -3617.0 / 10_670_622_842_880_000.0,
    43867.0 / 5_109_094_217_170_944_000.0,
    -174_611.0 / 802_857_662_698_291_200_000.0,
];

/// The sum of `(q + k)^-s` over `k` from 0. Infinite at `s = 1` and at integers `q` up to 0, NaN for smaller `s`, and NaN
/// for other `q` below 0 unless `s` is an integer.
pub fn zeta(s: f64, q: f64) -> f64 {
    if s.is_nan() || q.is_nan() || s < 1.0 {
        return f64::NAN;
    }
    if s == 1.0 {
        return f64::INFINITY;
    }
    if q > 0.0 {
        return positive(s, q);
    }
    if q == Math::floor(q) {
        return f64::INFINITY;
    }
    if s != Math::floor(s) {
        return f64::NAN;
    }
    // The terms below 0 are a difference of two sums over positive numbers.
    let rest = -q - Math::floor(-q);
    let below = positive(s, rest) - positive(s, 1.0 - q);
    positive(s, 1.0 - rest) + if s % 2.0 == 0.0 { below } else { -below }
}

fn positive(s: f64, q: f64) -> f64 {
    let (mut at, mut sum) = (q, 0.0);
    while at < 10.0 + s {
        let term = Math::pow(at, -s);
        sum += term;
        at += 1.0;
        if term <= sum * 1e-18 {
            return sum;
        }
    }
    let power = Math::pow(at, -s);
    sum += power * at / (s - 1.0) + power / 2.0;
    let mut factor = s * power / at;
    for (k, number) in (0..).zip(BERNOULLI) {
        sum += number * factor;
        let next = s + f64::from(2 * k);
        factor *= (next + 1.0) * (next + 2.0) / (at * at);
    }
    sum
}

//! Orthogonal polynomials `p_n(x)`, by their three-term recurrences. The degree is truncated to an integer; polynomials of
//! negative degree are 0. Source: DLMF, chapter 18.

use crate::math::Math;

/// From this degree on the result is NaN, so that an element cannot take unbounded time.
const HIGHEST: f64 = 1e7;

/// Chebyshev polynomials of the first kind.
pub fn chebyshev_t(x: f64, n: f64) -> f64 {
    doubled(x, n, x)
}

/// Chebyshev polynomials of the second kind.
pub fn chebyshev_u(x: f64, n: f64) -> f64 {
    doubled(x, n, 2.0 * x)
}

/// Chebyshev polynomials of the third kind.
pub fn chebyshev_v(x: f64, n: f64) -> f64 {
    doubled(x, n, 2.0 * x - 1.0)
}

/// Chebyshev polynomials of the fourth kind.
pub fn chebyshev_w(x: f64, n: f64) -> f64 {
    doubled(x, n, 2.0 * x + 1.0)
}

/// [`chebyshev_t`] on the interval from 0 to 1.
pub fn shifted_chebyshev_t(x: f64, n: f64) -> f64 {
    chebyshev_t(2.0 * x - 1.0, n)
}

/// [`chebyshev_u`] on the interval from 0 to 1.
pub fn shifted_chebyshev_u(x: f64, n: f64) -> f64 {
    chebyshev_u(2.0 * x - 1.0, n)
}

/// [`chebyshev_v`] on the interval from 0 to 1.
pub fn shifted_chebyshev_v(x: f64, n: f64) -> f64 {
    chebyshev_v(2.0 * x - 1.0, n)
}

/// [`chebyshev_w`] on the interval from 0 to 1.
pub fn shifted_chebyshev_w(x: f64, n: f64) -> f64 {
    chebyshev_w(2.0 * x - 1.0, n)
}

/// Hermite polynomials of physics.
pub fn hermite_h(x: f64, n: f64) -> f64 {
    recurrence(n, 2.0 * x, |k, last, before| 2.0 * (x * last - k * before))
}

/// Hermite polynomials of probability theory.
pub fn hermite_he(x: f64, n: f64) -> f64 {
    recurrence(n, x, |k, last, before| x * last - k * before)
}

/// Laguerre polynomials.
pub fn laguerre_l(x: f64, n: f64) -> f64 {
    recurrence(n, 1.0 - x, |k, last, before| ((2.0 * k + 1.0 - x) * last - k * before) / (k + 1.0))
}

/// Legendre polynomials.
pub fn legendre_p(x: f64, n: f64) -> f64 {
    recurrence(n, x, |k, last, before| ((2.0 * k + 1.0) * x * last - k * before) / (k + 1.0))
}

/// The recurrence of all Chebyshev polynomials, which differ in the polynomial of degree 1.
fn doubled(x: f64, n: f64, first: f64) -> f64 {
    recurrence(n, first, |_, last, before| 2.0 * x * last - before)
}

/// From degrees 0 (which is 1) and 1: `step` gives degree `k + 1` from degrees `k` and `k - 1`.
fn recurrence(n: f64, first: f64, step: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let degree = Math::trunc(n);
    if degree.is_nan() || degree >= HIGHEST {
        return f64::NAN;
    }
    if degree < 0.0 {
        return 0.0;
    }
    let (mut before, mut last) = (1.0, first);
    if degree == 0.0 {
        return before;
    }
    for k in 1..degree as u32 {
        (before, last) = (last, step(f64::from(k), last, before));
        if !last.is_finite() {
            break;
        }
    }
    last
}

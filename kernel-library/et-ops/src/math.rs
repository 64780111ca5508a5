//! Elementary functions for `f32` and `f64` on targets without a C library.
//!
//! Each file states the method and the error bound in units in the last place (ulp) of the result, and tests the bound
//! against the host's math library. `f32` functions never compute in `f64`, which microcontrollers emulate.

mod asin;
mod atan;
mod erf;
mod exp;
mod expm1;
mod format;
mod hyperbolic;
mod ln;
mod log;
mod pair;
mod pow;
mod reduce;
mod rounding;
pub mod special;
mod sqrt;
mod tanh;
#[cfg(test)]
mod test;
mod trigonometric;

pub use format::Format;

/// The functions.
pub trait Math: Format {
    /// e to this power.
    fn exp(self) -> Self;
    /// `exp(self) - 1` without cancellation near 0.
    fn expm1(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// `ln(1 + self)` without cancellation near 0.
    fn ln_1p(self) -> Self;
    /// The logarithm to base 2.
    fn log2(self) -> Self;
    /// The logarithm to base 10.
    fn log10(self) -> Self;
    /// This to the power `exponent`, with the special cases of C's `pow`.
    fn pow(self, exponent: Self) -> Self;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The sine of an angle in radians.
    fn sin(self) -> Self;
    /// The cosine of an angle in radians.
    fn cos(self) -> Self;
    /// The tangent of an angle in radians.
    fn tan(self) -> Self;
    /// The angle from -pi/2 to pi/2 with this sine.
    fn asin(self) -> Self;
    /// The angle from 0 to pi with this cosine.
    fn acos(self) -> Self;
    /// The angle from -pi/2 to pi/2 with this tangent.
    fn atan(self) -> Self;
    /// The angle of the point `(x, self)`, from -pi to pi.
    fn atan2(self, x: Self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The number with this hyperbolic sine.
    fn asinh(self) -> Self;
    /// The positive number with this hyperbolic cosine.
    fn acosh(self) -> Self;
    /// The number with this hyperbolic tangent.
    fn atanh(self) -> Self;
    /// The error function.
    fn erf(self) -> Self;
    /// The greatest integer that is not greater.
    fn floor(self) -> Self;
    /// The least integer that is not less.
    fn ceil(self) -> Self;
    /// The integer towards 0.
    fn trunc(self) -> Self;
    /// The nearest integer; ties round to even.
    fn round_ties_even(self) -> Self;
}

macro_rules! math {
    ($type:ty) => {
        impl Math for $type {
            fn exp(self) -> Self {
                exp::exp(self)
            }
            fn expm1(self) -> Self {
                expm1::expm1(self)
            }
            fn ln(self) -> Self {
                ln::ln(self)
            }
            fn ln_1p(self) -> Self {
                ln::ln_1p(self)
            }
            fn log2(self) -> Self {
                log::log2(self)
            }
            fn log10(self) -> Self {
                log::log10(self)
            }
            fn pow(self, exponent: Self) -> Self {
                pow::pow(self, exponent)
            }
            fn sqrt(self) -> Self {
                sqrt::Sqrt::sqrt(self)
            }
            fn sin(self) -> Self {
                trigonometric::sin(self)
            }
            fn cos(self) -> Self {
                trigonometric::cos(self)
            }
            fn tan(self) -> Self {
                trigonometric::tan(self)
            }
            fn asin(self) -> Self {
                asin::asin(self)
            }
            fn acos(self) -> Self {
                asin::acos(self)
            }
            fn atan(self) -> Self {
                atan::atan(self)
            }
            fn atan2(self, x: Self) -> Self {
                atan::atan2(self, x)
            }
            fn sinh(self) -> Self {
                hyperbolic::sinh(self)
            }
            fn cosh(self) -> Self {
                hyperbolic::cosh(self)
            }
            fn tanh(self) -> Self {
                tanh::tanh(self)
            }
            fn asinh(self) -> Self {
                hyperbolic::asinh(self)
            }
            fn acosh(self) -> Self {
                hyperbolic::acosh(self)
            }
            fn atanh(self) -> Self {
                hyperbolic::atanh(self)
            }
            fn erf(self) -> Self {
                erf::erf(self)
            }
            fn floor(self) -> Self {
                rounding::floor(self)
            }
            fn ceil(self) -> Self {
                rounding::ceil(self)
            }
            fn trunc(self) -> Self {
                rounding::trunc(self)
            }
            fn round_ties_even(self) -> Self {
                rounding::round_ties_even(self)
            }
        }
    };
}
math!(f32);
math!(f64);

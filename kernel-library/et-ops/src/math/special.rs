//! Special functions for `f64`. Elements of other types are converted, because these functions are rare and a single
//! version is small.
//!
//! The algorithms are series, asymptotic expansions, continued fractions and quadrature, with coefficients that are
//! computed instead of fitted. Source of the formulas: NIST Digital Library of Mathematical Functions.

pub mod airy;
pub mod bessel;
pub mod gamma;
pub mod incomplete;
pub mod normal;
pub mod polynomial;
#[cfg(test)]
mod test;
pub mod zeta;

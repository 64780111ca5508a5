//! Special functions.

pub mod airy;
pub mod bessel;
pub mod gamma;
pub mod normal;
pub mod polynomial;

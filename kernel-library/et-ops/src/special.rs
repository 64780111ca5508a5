//! Special functions.

mod function;

pub mod airy;
pub mod bessel;
pub mod gamma;
pub mod modified_bessel;
pub mod normal;
pub mod polynomial;

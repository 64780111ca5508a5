//! Loops and rules that many operators share.

pub mod binary;
pub mod bitwise;
pub mod bound;
pub mod compare;
pub mod convert;
pub mod copy;
pub mod division;
pub mod fill;
pub mod logical;
pub mod opmath;
pub mod pairing;
pub mod real;
pub mod scaled;
pub mod unary;
pub mod walk;

//! Loops and rules that many operators share.

pub mod binary;
pub mod unary;
pub mod walk;

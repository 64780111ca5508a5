//! Loops and rules that many operators share.

pub mod accumulate;
pub mod binary;
pub mod contract;
pub mod extremum;
pub mod index;
pub mod lane;
pub mod normalize;
pub mod permute;
pub mod place;
pub mod pool;
pub mod reduce;
pub mod softmax;
pub mod spatial;
pub mod total;
pub mod transfer;
pub mod unary;
pub mod walk;

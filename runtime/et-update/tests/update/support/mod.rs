//! Deltas made by hand, and a disk that loses power.

pub mod deltas;
pub mod disk;

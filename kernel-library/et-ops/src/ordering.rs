//! Sorting, and what a sorted order gives: top k, median, mode, unique elements, buckets.

mod heap;
mod middle;

pub mod bucketize;
pub mod median;
pub mod mode;
pub mod sort;
pub mod topk;
pub mod unique;
pub mod unique_dim;

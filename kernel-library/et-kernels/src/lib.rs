//! Fast kernels for everything that is no product of matrices.
//!
//! Each takes an instruction set ([`et_simd::Level`]), slices, and the range of the work that the slices are: rows, channels
//! or heads. Threads are the caller's: disjoint ranges give the same results, in any order. Scratch memory is the caller's
//! too; what a kernel needs of it is a function beside the kernel. What does not fit is
//! [`Error::InvalidArgument`](et_core::Error::InvalidArgument), before anything is written.
//!
//! Kernels are `#[inline]`, so that they are compiled where they are called: a program has, and waits for, no others.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod activation;
pub mod attention;
mod check;
pub mod copy;
pub mod depthwise;
pub mod elementwise;
pub mod normalize;
pub mod pool;
pub mod quantized;
pub mod reduce;
pub mod rotate;
mod rows;
pub mod softmax;
#[cfg(test)]
mod test;
mod tile;
pub mod window;

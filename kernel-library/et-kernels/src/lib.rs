//! Fast kernels for every operator that is not a GEMM: attention, recurrences, normalization, pooling,
//! depthwise convolution, elementwise.
//!
//! A kernel takes the ISA ([`et_simd::Level`]), slices, and the range of the work that the slices cover: rows, channels
//! or heads. Threading is up to the caller: disjoint ranges produce the same results in any order. The caller also
//! lends the scratch memory; a function beside each kernel returns the required size. Arguments that do not fit fail
//! with [`Error::InvalidArgument`](et_core::Error::InvalidArgument) before the first write.
//!
//! Kernels are `#[inline]`, so that a program compiles only the kernels that the program calls.
//!
//! ```
//! use et_kernels::softmax::softmax;
//! use et_simd::Level;
//!
//! let (logits, mut shares) = ([0.0, 0.0, 1.0, 1.0], [0.0; 4]);
//! softmax(Level::detect().unwrap(), &logits, &mut shares, 2)?;
//! assert_eq!(shares, [0.5; 4]);
//! # Ok::<(), et_core::Error>(())
//! ```
#![no_std]

#[cfg(test)]
extern crate std;

pub mod attention;
mod check;
pub mod col2im;
pub mod copy;
pub mod depthwise;
pub mod elementwise;
pub mod embedding_bag;
pub mod mean;
pub mod normalize;
pub mod pool;
pub mod quantized;
mod receptive_fields;
pub mod recurrence;
pub mod recurrent_cell;
pub mod rotate;
mod rows;
pub mod short_convolution;
pub mod softmax;
#[cfg(test)]
mod test;
pub mod topk;
pub mod window;

//! GEMM and convolution over packed weights, in `f32`, fp16, bf16, int8, and blockwise int4, int6 and int8, with kernels per ISA.
//!
//! Packing happens at build time and works on any host for any ISA; computing requires the CPU. Images are NHWC, and a
//! GEMM is a convolution with a 1 x 1 kernel. The work is a [`Grid`] of M tiles x N panels: every split of the grid
//! produces the same bits. The crate never allocates: the caller lends scratch memory. Except for the int8 GEMM, code
//! that not every program calls is `#[inline]`, so that the code is compiled in the calling crate.
//!
//! ```
//! use et_gemm::{Activation, FloatOperands, FloatProduct, Isa, Output, Shape, Weights};
//!
//! // Two rows of three numbers by a matrix of three rows and two columns.
//! let (input, matrix) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
//! let gemm = FloatProduct::new(Shape::product(2, 3, 2), Isa::detect())?;
//! // Packed weights start at a cache line.
//! let mut memory = vec![0; gemm.packed_size() + 64];
//! let skip = memory.as_ptr().align_offset(64);
//! let packed = &mut memory[skip..skip + gemm.packed_size()];
//! gemm.pack(&Weights::matrix(&matrix, 2), &[], packed)?;
//!
//! let operands = FloatOperands { input: &input, weights: packed, activation: Activation::None, residual: None };
//! let (mut result, mut scratch) = ([0.0; 4], vec![0; gemm.scratch_size()]);
//! let mut output = Output::new(&mut result, 2, 2, 2)?;
//! gemm.compute(&operands, &mut output, gemm.grid().all(), &mut scratch)?;
//! assert_eq!(result, [4.0, 5.0, 10.0, 11.0]);
//! # Ok::<(), et_core::Error>(())
//! ```
#![no_std]
// Helpers of kernels that the enabled features leave out.
#![cfg_attr(
    not(all(feature = "float", feature = "int8", feature = "blocks", feature = "portable")),
    allow(dead_code, unused_imports)
)]

#[cfg(test)]
extern crate std;

mod block;
mod float;
mod half_weights;
mod int8;
mod kernels;
mod output;
mod panels;
pub mod scratch;
mod shape;
mod weight_only;
mod window;

pub use et_simd::{Activation, Architecture, Isa};

pub use block::gemm::{BlockGemm, BlockOperands};
pub use float::direct::FloatOperands;
pub use float::pack::{Weights, float_column};
pub use float::product::FloatProduct;
pub use half_weights::HalfWeights;
pub use int8::compute::{Int8Operands, Int8Residual};
pub use int8::gemm::Int8Gemm;
pub use int8::pack::Bias;
pub use kernels::block_format::{BlockFormat, Scales, Width};
pub use kernels::finish::{Quantization, RowScale};
pub use kernels::halves::Halves;
pub use kernels::quantize::{FloatRows, Mapping, quantize_rows};
pub use kernels::{KERNELS, KernelRow, Kernels};
pub use output::{Output, Residual};
pub use shape::{Block, Grid, Runs, Shape};
pub use weight_only::{WeightOnlyGemm, WeightOnlyOperands};

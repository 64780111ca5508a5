//! GEMM and convolution over packed weights, in `f32`, int8 and blockwise int4, with kernels per ISA.
//!
//! Packing happens at build time and works on any host for any ISA; computing requires the CPU. Images are NHWC, and a
//! GEMM is a convolution with a 1 x 1 kernel. The work is a [`Grid`] of M tiles x N panels: every split of the grid
//! produces the same bits. The crate never allocates: the caller lends scratch memory. Except for the int8 GEMM, code
//! that not every program calls is `#[inline]`, so that the code is compiled in the calling crate.
#![no_std]
// Helpers of kernels that the enabled features leave out.
#![cfg_attr(
    not(all(
        feature = "float",
        feature = "byte",
        feature = "nibble",
        feature = "portable",
        feature = "avx512-bytes",
        feature = "avx-vnni"
    )),
    allow(dead_code, unused_imports)
)]

#[cfg(any(test, feature = "std"))]
extern crate std;

mod activation;
#[cfg(target_arch = "x86_64")]
mod amx;
mod byte;
mod float;
mod isa;
mod lanes;
mod nibble;
mod output;
mod panels;
mod scratch;
mod shape;
mod wide;
mod window;

pub use activation::Activation;
pub use byte::finish::{Quantization, RowScale};
pub use byte::pack::Bias;
pub use byte::product::{ByteOperands, ByteProduct, ByteResidual};
pub use byte::quantize::quantize_rows;
pub use byte::rows::{BYTE, ByteRow};
pub use float::pack::Weights;
pub use float::product::{FloatOperands, FloatProduct, Residual};
pub use float::rows::{FLOAT, FloatRow};
pub use isa::Isa;
pub use nibble::pack::NibbleForm;
pub use nibble::product::{NibbleOperands, NibbleProduct};
pub use nibble::rows::{NIBBLE, NibbleRow};
pub use nibble::scale::{Scales, step_of};
pub use output::Output;
pub use shape::{Axis, Block, Grid, Runs, Shape};
pub use wide::product::{WideOperands, WideProduct};

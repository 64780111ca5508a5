//! Products of matrices and convolutions over packed weights, in `f32` and `i8`, for each instruction set.
//!
//! Weights are packed at build time, on any machine for any instruction set; computing needs the processor. Images are
//! channels-last, and a product of two matrices is a convolution with one tap. Work is a [`Grid`] of tiles of rows times
//! panels of columns: any split of it gives the same bits. Nothing is allocated: the caller lends scratch memory. What not
//! every program calls, products of bytes apart, is `#[inline]`, so that it is compiled where it is called.
#![no_std]
// What only the kernels use that features leave out.
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

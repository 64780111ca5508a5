//! The int8 delegate for microcontrollers: executes a partition of int8 operators in place, without a heap and without floating
//! point except at the border of the partition.
//!
//! A [`Blob`] holds instructions, packed weights and requantization tables, all read where they lie, in flash. Images are NHWC
//! within a partition. Kernels accumulate in int32; [`requantize`] states the rounding rule. The inner loops are rows of
//! [`row`]: portable Rust for any processor, and assembly for Armv6-M, Armv7-M, the DSP extension and Helium.
#![no_std]
#![cfg_attr(
    any(
        target_os = "none",
        not(all(feature = "convolution", feature = "depthwise", feature = "float-output", feature = "arithmetic"))
    ),
    allow(
        dead_code,
        unused_imports,
        reason = "kernels and rows share parts, which a selection of them may leave unused"
    )
)]

#[cfg(test)]
extern crate std;

mod blob;
mod delegate;
mod instruction;
mod memory;
mod multiplier;
pub mod requantize;
pub mod row;
mod run;

pub use blob::{ALIGNMENT, Blob, Header, MAGIC, VERSION};
pub use delegate::{Engine, ID, delegate};
pub use instruction::{
    Add, Add16, Average, Average16, Bounds, CELL_FRACTION, Convolution, Convolution4, Convolution4ToFloat,
    Convolution16, Convolution16ToFloat, ConvolutionAdd, ConvolutionResidual, ConvolutionToFloat, CopyRows, Depthwise,
    Depthwise16, Dequantize, Dequantize16, GATE_FRACTION, Instruction, Maximum, Maximum16, Multiply, Multiply16, Place,
    Quantize, Quantize16, Recurrent, Residual, Softmax, Softmax16, Sum, Table, Table16, Transpose, Transpose16, Window,
};
pub use multiplier::{Channel, Channel16, Limits, Multiplier};
pub use row::Row;

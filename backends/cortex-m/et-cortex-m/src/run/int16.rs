//! Kernels with int16 activations.

#[cfg(feature = "int16-arithmetic")]
mod arithmetic;
#[cfg(any(feature = "int16-convolution", feature = "int16-float-output"))]
mod convolution;
#[cfg(feature = "int16-depthwise")]
mod depthwise;
#[cfg(feature = "int16-softmax")]
mod softmax;
#[cfg(any(feature = "int16-softmax", feature = "int16-tables", feature = "recurrent"))]
mod table;

#[cfg(feature = "int16-arithmetic")]
pub use arithmetic::{add, multiply};
#[cfg(feature = "int16-convolution")]
pub use convolution::convolution;
#[cfg(feature = "int16-float-output")]
pub use convolution::convolution_to_float;
#[cfg(feature = "int16-depthwise")]
pub use depthwise::depthwise;
#[cfg(feature = "int16-softmax")]
pub use softmax::softmax;
#[cfg(feature = "int16-tables")]
pub use table::table;
#[cfg(feature = "recurrent")]
pub use table::{ENTRIES, look_up};

//! Operators with a sliding window: GEMM (a 1x1 convolution), convolution and pooling.

use super::activation::Activation;
use super::operand::{Numbers, Place, Rows};
use super::rows::Normalize;
use crate::record::{SlotNumber, records};

records! {
    /// The shape of a sliding window over an NHWC tensor `[batch, height, width, channels]`, or over an NCHW tensor
    /// `[batch, channels, height, width]` for convolutions over NCHW input.
    pub struct Window {
        /// Batch size.
        pub batch: u32,
        /// Height, width and channels of the input tensor.
        pub input: [u32; 3],
        /// Height, width and channels of the output tensor.
        pub output: [u32; 3],
        /// Height and width of the convolution kernel.
        pub kernel: [u32; 2],
        /// Vertical and horizontal stride.
        pub stride: [u32; 2],
        /// Padding at the top and at the left.
        pub padding: [u32; 2],
        /// Vertical and horizontal dilation.
        pub dilation: [u32; 2],
        /// Groups of the convolution.
        pub groups: u32,
        /// 0 for an NHWC input tensor, 1 for an NCHW input tensor.
        pub is_planar: u32,
    }

    /// `output = activation(windows of input x weights + bias + residual)`: an f32 convolution as implicit GEMM. A matmul is a
    /// convolution with a width of 1. A GEMM row is a pixel.
    pub struct Product {
        /// The input tensor.
        pub input: Rows,
        /// The output tensor.
        pub output: Rows,
        /// Per-channel factors of the input tensor; absent without a fused scale.
        pub factors: Place,
        /// The residual tensor that the epilogue adds; absent without a fused addition.
        pub residual: Rows,
        /// The slot of the packed weights and bias.
        pub weights: SlotNumber,
        /// 1 where the epilogue adds the residual after the activation, 0 before.
        pub residual_last: u32,
        /// The shape of the convolution.
        pub window: Window,
        /// The activation of the epilogue.
        pub activation: Activation,
    }

    /// Two fused GEMMs, computed in bands of rows: the intermediate tensor stays in the cache and never exists as a whole.
    pub struct BackToBack {
        /// The normalization fused in front of the first GEMM; its input is absent without a normalization.
        pub normalize: Normalize,
        /// The first GEMM; its output place is absent.
        pub first: Product,
        /// The second GEMM, on the output of the first; its input place is absent.
        pub second: Product,
        /// The minimum number of bands.
        pub bands: u32,
    }

    /// Depthwise f32 convolution.
    pub struct Depthwise {
        /// The input tensor.
        pub input: Place,
        /// The output tensor.
        pub output: Place,
        /// The slot of the packed weights.
        pub weights: SlotNumber,
        /// The slot of the per-channel bias, or no slot.
        pub bias: SlotNumber,
        /// The shape of the convolution.
        pub window: Window,
        /// The activation of the epilogue.
        pub activation: Activation,
    }

    /// [`Product`] of an int8 tensor with packed int8 weights.
    pub struct QuantizedProduct {
        /// The int8 input tensor.
        pub input: Rows,
        /// Per-token qparams of dynamically quantized rows; absent for static quantization.
        pub row_scales: Place,
        /// The zero point of the input tensor.
        pub input_zero: i32,
        /// The output tensor.
        pub output: Rows,
        /// The dtype and qparams of the output tensor.
        pub numbers: Numbers,
        /// 1 where the requantization scales are packed with the weights: weight scales divided by the output scale.
        pub is_divided: u32,
        /// The residual tensor that the epilogue adds; absent without a fused addition.
        pub residual: Rows,
        /// The dtype and qparams of the residual tensor.
        pub residual_numbers: Numbers,
        /// The slot of the packed weights, scales and bias.
        pub weights: SlotNumber,
        /// 1 where the epilogue adds the residual after the activation, 0 before.
        pub residual_last: u32,
        /// The shape of the convolution.
        pub window: Window,
        /// The activation of the epilogue, on dequantized f32 values.
        pub activation: Activation,
    }

    /// [`Depthwise`] convolution of an int8 tensor with int8 weights.
    pub struct QuantizedDepthwise {
        /// The int8 input tensor.
        pub input: Place,
        /// The zero point of the input tensor.
        pub input_zero: i32,
        /// The int8 output tensor.
        pub output: Place,
        /// The qparams of the output tensor.
        pub numbers: Numbers,
        /// The slot of the weight tensor `[height, width, channels]`.
        pub weights: SlotNumber,
        /// The slot of the per-channel int32 bias, in units of input scale times weight scale.
        pub bias: SlotNumber,
        /// The slot of the per-channel scales of the accumulators.
        pub scales: SlotNumber,
        /// The shape of the convolution.
        pub window: Window,
        /// The activation of the epilogue, on dequantized f32 values.
        pub activation: Activation,
    }

    /// Max pooling or average pooling.
    pub struct Pool {
        /// The input tensor.
        pub input: Place,
        /// The output tensor.
        pub output: Place,
        /// The dtype and qparams of both tensors.
        pub numbers: Numbers,
        /// The shape of the pooling window.
        pub window: Window,
        /// 0 for max pooling, 1 for average pooling without padding in the divisor, 2 for average pooling with padding in the divisor.
        pub kind: u32,
    }
}

//! Operators with a receptive field: convolution, GEMM (a 1x1 convolution), depthwise convolution and pooling.

use et_gemm::Shape;
use et_record::{Write, numbered, records};

use super::operand::{Place, QParams, RowScales, Rows, Weights};
use super::rows::Normalize;
use crate::record::SlotNumber;

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
        /// Whether the input tensor is NCHW instead of NHWC.
        pub is_planar: bool,
    }

    /// `output = epilogue(im2col(input) x weights + bias)`: a convolution as implicit GEMM. A matmul or linear layer is a 1x1
    /// convolution with a height of 1; a GEMM row is a pixel. The types of input and weights select the GEMM ([`Conv2d::gemm`]).
    pub struct Conv2d {
        /// The input tensor, f32 or int8.
        pub input: Rows,
        /// The per-tensor qparams of an int8 input tensor.
        pub input_qparams: QParams,
        /// The qparams of a dynamically quantized int8 input tensor; absent for other input tensors.
        pub row_scales: RowScales,
        /// Per-channel scales of the input tensor, a fused squeeze-and-excite block; absent without such a block.
        pub channel_scales: Place,
        /// The packed weights and bias.
        pub weights: Weights,
        /// The output tensor.
        pub output: Write<Rows>,
        /// The dtype and qparams of the output tensor.
        pub output_qparams: QParams,
        /// The shape of the convolution.
        pub window: Window,
        /// The work on an accumulator before it is stored.
        pub epilogue: Epilogue,
    }

    /// The epilogue of a GEMM: residual, activation and requantization of an accumulator.
    pub struct Epilogue {
        /// The residual tensor that the epilogue adds; absent without a fused addition.
        pub residual: Rows,
        /// The dtype and qparams of the residual tensor.
        pub residual_qparams: QParams,
        /// Whether the epilogue adds the residual after the activation instead of before.
        pub residual_last: bool,
        /// Whether the weight scales are divided by the output scale, so that accumulators are in units of the output.
        pub is_divided: bool,
        /// The activation, on f32 values.
        pub activation: Activation,
    }

    /// Two fused GEMMs, computed in bands of rows: the intermediate tensor stays in the cache and never exists as a whole.
    pub struct FusedMlp {
        /// The normalization fused in front of the first GEMM; its input is absent without a normalization.
        pub normalize: Normalize,
        /// The first GEMM, f32; its output place is absent.
        pub first: Conv2d,
        /// The second GEMM, on the output of the first; its input place is absent.
        pub second: Conv2d,
    }

    /// Depthwise convolution: f32, or int8 with int8 weights and an int8 output tensor.
    pub struct Depthwise {
        /// The input tensor.
        pub input: Place,
        /// The dtype and qparams of the input tensor.
        pub input_qparams: QParams,
        /// The output tensor.
        pub output: Write<Place>,
        /// The qparams of an int8 output tensor.
        pub output_qparams: QParams,
        /// The slot of the weight tensor `[height, width, channels]`, f32 or int8.
        pub weights: SlotNumber,
        /// The slot of the per-channel bias: f32, or int32 in units of input scale times weight scale.
        pub bias: SlotNumber,
        /// The slot of the per-channel scales of int32 accumulators; no slot for f32.
        pub scales: SlotNumber,
        /// The shape of the convolution.
        pub window: Window,
        /// The activation of the epilogue, on f32 values.
        pub activation: Activation,
    }

    /// Max pooling or average pooling.
    pub struct Pool {
        /// The input tensor.
        pub input: Place,
        /// The output tensor.
        pub output: Write<Place>,
        /// The dtype and qparams of both tensors.
        pub qparams: QParams,
        /// The shape of the pooling window.
        pub window: Window,
        /// The kind of pooling.
        pub kind: PoolKind,
    }

    /// An activation function with clamp limits, fused into the epilogue of a GEMM or convolution.
    pub struct Activation {
        /// The activation function.
        pub kind: ActivationKind,
        /// The lower clamp limit.
        pub low: f32,
        /// The upper clamp limit.
        pub high: f32,
    }
}

numbered! {
    /// The kind of pooling.
    pub enum PoolKind {
        /// Max pooling.
        Max,
        /// Average pooling without padding in the divisor.
        Average,
        /// Average pooling with padding in the divisor.
        AveragePadded,
    }

    /// The activation function that the epilogue applies to an accumulator before the clamp.
    pub enum ActivationKind {
        /// The identity.
        Identity,
        /// `x * clamp(x + 3, 0, 6) / 6`.
        Hardswish,
        /// `clamp(x + 3, 0, 6) / 6`.
        Hardsigmoid,
        /// `x * sigmoid(x)`.
        Silu,
        /// `x * Phi(x)` by the error function.
        Gelu,
        /// GELU by the tanh approximation.
        GeluTanh,
        /// `1 / (1 + exp(-x))`.
        Sigmoid,
    }
}

impl Activation {
    /// An activation function without clamp limits.
    pub const fn of(kind: ActivationKind) -> Self {
        Self { kind, low: f32::NEG_INFINITY, high: f32::INFINITY }
    }

    /// A clamp without an activation function, as of a fused ReLU.
    pub const fn clamp(low: f32, high: f32) -> Self {
        Self { kind: ActivationKind::Identity, low, high }
    }
}

impl Window {
    /// A GEMM as a 1x1 convolution of an image of height 1.
    pub const fn matrix(rows: usize, inner: usize, columns: usize) -> Self {
        Self {
            batch: 1,
            input: [1, rows as u32, inner as u32],
            output: [1, rows as u32, columns as u32],
            kernel: [1, 1],
            stride: [1, 1],
            padding: [0, 0],
            dilation: [1, 1],
            groups: 1,
            is_planar: false,
        }
    }

    /// The implicit GEMM shape of a convolution; `pixel_stride` is the stride of an NHWC pixel in elements. `None` for zero groups,
    /// and for NCHW images with several groups.
    pub fn shape(&self, pixel_stride: usize) -> Option<Shape> {
        let pair = |pair: [u32; 2]| pair.map(|number| number as usize);
        let groups = self.groups as usize;
        let shape = Shape {
            batch: self.batch as usize,
            input: pair([self.input[0], self.input[1]]),
            output: pair([self.output[0], self.output[1]]),
            channels: (self.input[2] as usize).checked_div(groups)?,
            columns: (self.output[2] as usize).checked_div(groups)?,
            groups,
            planes: 1,
            pixel_stride,
            kernel: pair(self.kernel),
            stride: pair(self.stride),
            padding: pair(self.padding),
            dilation: pair(self.dilation),
        };
        match self.is_planar {
            false => Some(shape),
            true => (groups == 1).then(|| shape.planar()),
        }
    }
}

/// A GEMM by the types of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gemm {
    /// f32 input and weights.
    Float,
    /// int8 input, per-tensor or per-token quantized, and int8 weights with a scale per column.
    Int8,
    /// int8 input, quantized per token or in blocks of one, and blockwise int4, int6 or int8 weights; a 1x1 convolution.
    Blocks,
    /// f32 input and fp16, bf16, int8, int6 or int4 weights, which are widened or dequantized for the micro-kernel; a 1x1 convolution.
    WeightOnly,
}

impl Conv2d {
    /// The GEMM of the operand types; `None` for types without a micro-kernel.
    pub fn gemm(&self) -> Option<Gemm> {
        let is_dynamic = self.row_scales.is_present();
        match (is_dynamic || self.input_qparams.is_int8(), self.weights.bits) {
            (true, 4 | 6 | 8) if self.weights.group > 0 => is_dynamic.then_some(Gemm::Blocks),
            (false, 32) => Some(Gemm::Float),
            (true, 8) => (self.row_scales.blocks <= 1).then_some(Gemm::Int8),
            (false, 4 | 6 | 8 | 16) => Some(Gemm::WeightOnly),
            _ => None,
        }
    }

    /// The cargo feature that compiles the GEMM.
    pub fn feature(&self) -> Option<&'static str> {
        Some(match self.gemm()? {
            Gemm::Float => "float-products",
            Gemm::Int8 => "byte-products",
            Gemm::Blocks => "grouped-products",
            Gemm::WeightOnly => "wide-products",
        })
    }
}

impl FusedMlp {
    /// The intermediate bytes of a band that fit in a second-level cache beside weight panels.
    const BAND: usize = 5 << 17;

    /// The bands of the intermediate tensor, so that each fits in a second-level cache.
    pub const fn bands(rows: usize, columns: usize) -> usize {
        rows.saturating_mul(columns).saturating_mul(size_of::<f32>()).div_ceil(Self::BAND)
    }

    /// The most rows of a band.
    pub const fn most_rows(columns: usize) -> usize {
        match (Self::BAND / size_of::<f32>()).checked_div(columns) {
            Some(rows) => rows,
            None => 0,
        }
    }
}

impl Depthwise {
    /// The cargo feature that compiles the kernel of the input type.
    pub fn feature(&self) -> Option<&'static str> {
        Some(if self.input_qparams.is_int8() { "byte-depthwise" } else { "depthwise" })
    }
}

impl Pool {
    /// The cargo feature that compiles the kernels of the element type.
    pub fn feature(&self) -> Option<&'static str> {
        Some(if self.qparams.is_int8() { "byte-pools" } else { "pools" })
    }
}

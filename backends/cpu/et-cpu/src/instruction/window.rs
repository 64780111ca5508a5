//! Products of matrices, convolutions and pooling: all that moves a window over an image.

use super::activation::Activation;
use super::operand::{Numbers, Place, Rows};
use super::rows::Normalize;
use crate::record::{SlotNumber, records};

records! {
    /// The shape of a sliding window over `[batch, height, width, channels]`, or `[batch, channels, height, width]` for products of
    /// planar images.
    pub struct Window {
        /// Images.
        pub batch: u32,
        /// Height, width and channels of an input image.
        pub input: [u32; 3],
        /// Height, width and channels of an output image.
        pub output: [u32; 3],
        /// Height and width of the window.
        pub kernel: [u32; 2],
        /// Rows and columns from one window to the next.
        pub stride: [u32; 2],
        /// Rows and columns before the first window begins.
        pub padding: [u32; 2],
        /// Rows and columns from one element of the window to the next.
        pub dilation: [u32; 2],
        /// Channels are split into so many independent parts.
        pub groups: u32,
        /// 0 where channels of an input image are neighbours; otherwise they lie apart, each as a plane.
        pub is_planar: u32,
    }

    /// `output = activation(windows of input x weights + bias + residual)`: a convolution, of which a product of matrices is
    /// the case with one column of pixels. A row is a pixel.
    pub struct Product {
        /// The images.
        pub input: Rows,
        /// The results.
        pub output: Rows,
        /// Numbers that channels of the images are multiplied by, if their place is present.
        pub factors: Place,
        /// Added to the results, if its place is present.
        pub residual: Rows,
        /// The slot of the packed weights and biases.
        pub weights: SlotNumber,
        /// 1 where the residual is added after the activation, 0 before.
        pub residual_last: u32,
        /// The shape.
        pub window: Window,
        /// The activation.
        pub activation: Activation,
    }

    /// Two products that are computed a band of rows at a time, so that what lies between is never in memory as a whole.
    pub struct BackToBack {
        /// What makes the rows that the first product reads, if its input is present.
        pub normalize: Normalize,
        /// The first product, whose results have no place.
        pub first: Product,
        /// The second one, whose input has none: it reads the results of the first.
        pub second: Product,
        /// The least number of bands.
        pub bands: u32,
    }

    /// A convolution of each channel by itself.
    pub struct Depthwise {
        /// The images.
        pub input: Place,
        /// The results.
        pub output: Place,
        /// The slot of the packed weights.
        pub weights: SlotNumber,
        /// The slot of one number per channel, or none.
        pub bias: SlotNumber,
        /// The shape.
        pub window: Window,
        /// The activation.
        pub activation: Activation,
    }

    /// [`Product`] of bytes with packed bytes.
    pub struct QuantizedProduct {
        /// The images, bytes.
        pub input: Rows,
        /// Scales and zero points of rows that were quantized at run time, if the place is present.
        pub row_scales: Place,
        /// The byte of 0 in the input.
        pub input_zero: i32,
        /// The results.
        pub output: Rows,
        /// What the results stand for.
        pub numbers: Numbers,
        /// 1 where the scales of the weights are divided by that of the results already.
        pub is_divided: u32,
        /// Added to the results, if its place is present.
        pub residual: Rows,
        /// What that stands for.
        pub residual_numbers: Numbers,
        /// The slot of the packed weights, scales and biases.
        pub weights: SlotNumber,
        /// 1 where the residual is added after the activation, 0 before.
        pub residual_last: u32,
        /// The shape.
        pub window: Window,
        /// The activation, of numbers.
        pub activation: Activation,
    }

    /// [`Depthwise`] of bytes with bytes.
    pub struct QuantizedDepthwise {
        /// The images.
        pub input: Place,
        /// The byte of 0 in the input.
        pub input_zero: i32,
        /// The results.
        pub output: Place,
        /// What the results stand for.
        pub numbers: Numbers,
        /// The slot of the weights `[height, width, channels]`.
        pub weights: SlotNumber,
        /// The slot of a bias per channel, in steps of input times weight.
        pub bias: SlotNumber,
        /// The slot of a step's number per channel.
        pub scales: SlotNumber,
        /// The shape.
        pub window: Window,
        /// The activation, of numbers.
        pub activation: Activation,
    }

    /// The greatest or the mean element of each window.
    pub struct Pool {
        /// The images.
        pub input: Place,
        /// The results.
        pub output: Place,
        /// What both stand for.
        pub numbers: Numbers,
        /// The shape.
        pub window: Window,
        /// 0 for the greatest, 1 for the mean of what is inside the image, 2 for the mean with padding.
        pub kind: u32,
    }
}

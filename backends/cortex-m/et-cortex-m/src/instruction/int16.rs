//! Instructions with int16 activations and int8 weights: TensorFlow Lite's 16x8. Zero points are 0.

use et_record::records;

use super::{Place, Sum, Window};
use crate::{Limits, Multiplier};

records! {
    /// float32 to int16: `clamp(round(x * inverse))`, ties to even. Row-major images become NHWC.
    pub struct Quantize16 {
        /// float32 `[images, channels, pixels]`.
        pub input: Place,
        /// int16 `[images, pixels, channels]`.
        pub output: Place,
        /// Images.
        pub images: u32,
        /// Channels.
        pub channels: u32,
        /// Pixels of an image.
        pub pixels: u32,
        /// Elements of the input from a channel to the next.
        pub pitch: u32,
        /// The inverse of the scale.
        pub inverse: f32,
    }

    /// int16 to float32: `x * scale`. NHWC images become row-major.
    pub struct Dequantize16 {
        /// int16 `[images, pixels, channels]`.
        pub input: Place,
        /// float32 `[images, channels, pixels]`.
        pub output: Place,
        /// Images.
        pub images: u32,
        /// Channels.
        pub channels: u32,
        /// Pixels of an image.
        pub pixels: u32,
        /// The scale.
        pub scale: f32,
    }

    /// Convolution and fully connected layers, int16 to int16.
    pub struct Convolution16 {
        /// int16 `[batch, in_height, in_width, in_channels]`.
        pub input: Place,
        /// int16 `[batch, out_height, out_width, out_channels]`.
        pub output: Place,
        /// Scratch for the columns of a tile of pixels, [`Window::tile_len`] int16.
        pub tile: Place,
        /// Sizes.
        pub window: Window,
        /// Packed weights ([`crate::row::int16`]).
        pub weights: u32,
        /// A [`crate::Channel16`] per output channel.
        pub channels: u32,
        /// The limits of the result.
        pub limits: Limits,
        /// 1 if all sums fit in 32 bits, and all shifts are 32.
        pub narrow: u32,
    }

    /// Convolution and fully connected layers, int16 to float32: `clamp(sum * scale)`.
    pub struct Convolution16ToFloat {
        /// int16 `[batch, in_height, in_width, in_channels]`.
        pub input: Place,
        /// float32 `[batch, out_channels, out_height, out_width]`.
        pub output: Place,
        /// Scratch, as in [`Convolution16`].
        pub tile: Place,
        /// Sizes.
        pub window: Window,
        /// Packed weights.
        pub weights: u32,
        /// A [`crate::Channel16`] per output channel, whose factor is the bits of a float32 scale.
        pub channels: u32,
        /// The smallest result.
        pub least: f32,
        /// The greatest result.
        pub most: f32,
        /// 1 if all sums fit in 32 bits.
        pub narrow: u32,
    }

    /// Depthwise convolution: output channel `c` reads input channel `c`.
    pub struct Depthwise16 {
        /// int16 `[batch, in_height, in_width, in_channels]`.
        pub input: Place,
        /// int16 `[batch, out_height, out_width, in_channels]`.
        pub output: Place,
        /// Scratch for taps outside of the image, int16 `[in_channels]`.
        pub zeros: Place,
        /// Scratch for the offsets of taps, as in [`super::Depthwise`].
        pub offsets: Place,
        /// Sizes.
        pub window: Window,
        /// Packed weights, as of [`super::Depthwise`] in groups of four channels.
        pub weights: u32,
        /// A [`crate::Channel16`] per channel.
        pub channels: u32,
        /// The limits of the result.
        pub limits: Limits,
        /// As in [`Convolution16`].
        pub narrow: u32,
    }

    /// The maximum of each window; padding does not count.
    pub struct Maximum16 {
        /// int16 `[batch, in_height, in_width, in_channels]`.
        pub input: Place,
        /// int16 `[batch, out_height, out_width, in_channels]`.
        pub output: Place,
        /// Sizes.
        pub window: Window,
    }

    /// The sum of each window, divided or requantized. Padding has the value zero.
    pub struct Average16 {
        /// int16 `[batch, in_height, in_width, in_channels]`.
        pub input: Place,
        /// int16 `[batch, out_height, out_width, in_channels]`.
        pub output: Place,
        /// Sizes.
        pub window: Window,
        /// The divisor of a sum, rounded to nearest, halves away from zero; 0 if the sum is requantized.
        pub divisor: u32,
        /// The factor of a sum.
        pub multiplier: i32,
        /// The power of two that the product is divided by.
        pub shift: i32,
        /// The limits of the result.
        pub limits: Limits,
    }

    /// The sum of two tensors: [`Sum`] with [`crate::requantize::SUM_FRACTION_16`] fractional bits.
    pub struct Add16 {
        /// int16.
        pub left: Place,
        /// int16 elements, repeated as often as the left operand needs.
        pub right: Place,
        /// int16.
        pub output: Place,
        /// Elements of the left operand and of the result.
        pub count: u32,
        /// Elements of the right operand.
        pub period: u32,
        /// The rule.
        pub sum: Sum,
    }

    /// The product of two tensors.
    pub struct Multiply16 {
        /// int16.
        pub left: Place,
        /// int16 elements, repeated as often as the left operand needs.
        pub right: Place,
        /// int16.
        pub output: Place,
        /// Elements of the left operand and of the result.
        pub count: u32,
        /// Elements of the right operand.
        pub period: u32,
        /// The product of both scales by the result's.
        pub scale: Multiplier,
        /// The limits of the result.
        pub limits: Limits,
    }

    /// A function of single elements: a line between neighbours of 513 results.
    pub struct Table16 {
        /// int16.
        pub input: Place,
        /// int16.
        pub output: Place,
        /// Elements.
        pub count: u32,
        /// 513 int16 results, of -32768 first, of every 128th number.
        pub table: u32,
    }

    /// Softmax of rows; a result of 1 is 32768.
    pub struct Softmax16 {
        /// int16 `[rows, columns]`.
        pub input: Place,
        /// int16 `[rows, columns]`.
        pub output: Place,
        /// Rows.
        pub rows: u32,
        /// Columns.
        pub columns: u32,
        /// The scale of the input in steps of `10 / 65535`.
        pub scale: Multiplier,
        /// 513 int16: the exponentials of -10 to 0.
        pub exponentials: u32,
        /// 513 int16: `1 / (1 + x)` of 0 to 1.
        pub inverses: u32,
    }

    /// Swaps the last two dimensions of `[images, rows, columns]`, int16.
    pub struct Transpose16 {
        /// int16.
        pub input: Place,
        /// int16.
        pub output: Place,
        /// Images.
        pub images: u32,
        /// Rows of the input.
        pub rows: u32,
        /// Columns of the input.
        pub columns: u32,
        /// Elements of the input from a row to the next.
        pub pitch: u32,
    }
}

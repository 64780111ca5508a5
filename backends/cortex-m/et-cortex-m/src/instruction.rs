//! The instruction set of a delegate blob. Images are NHWC; counts are in elements, offsets in bytes.

mod int16;
mod recurrent;
mod window;

use et_record::{Access, Operand, Record, Text, Words, records};

use crate::Multiplier;
pub use int16::{
    Add16, Average16, Convolution16, Convolution16ToFloat, Depthwise16, Dequantize16, Maximum16, Multiply16,
    Quantize16, Softmax16, Table16, Transpose16,
};
pub use recurrent::{CELL_FRACTION, GATE_FRACTION, Recurrent};
pub use window::Window;

/// The memory of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The position of the argument of the call, or [`Place::CONSTANT`].
    pub argument: u32,
    /// The offset within the argument.
    pub offset: u32,
}

records! {
    /// The qparams of the result of an integer kernel: `zero` is added to the requantized value, then the sum is clamped.
    pub struct Bounds {
        /// The zero point.
        pub zero: i32,
        /// The smallest integer.
        pub least: i32,
        /// The greatest integer.
        pub most: i32,
    }

    /// A tensor that is added to the accumulators of a convolution before requantization.
    pub struct Residual {
        /// int8 elements in the order of the output: the output itself, or other memory.
        pub input: Place,
        /// The zero point of the residual.
        pub zero: i32,
        /// The scale of the residual relative to the result's, times 2^[`crate::requantize::FRACTION`].
        pub scale: Multiplier,
    }

    /// float32 to int8: `clamp(round(x * inverse) + zero)`, ties to even. Row-major images become NHWC.
    pub struct Quantize {
        /// float32 `[images, channels, pixels]`.
        pub input: Place,
        /// int8 `[images, pixels, channels]`.
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
        /// The zero point.
        pub zero: i32,
    }

    /// int8 to float32: `(x - zero) * scale`. NHWC images become row-major.
    pub struct Dequantize {
        /// int8 `[images, pixels, channels]`.
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
        /// The zero point.
        pub zero: i32,
    }

    /// Convolution and fully connected layers, int8 to int8.
    pub struct Convolution {
        /// int8 `[batch, in_height, in_width, in_channels]`.
        pub input: Place,
        /// int8 `[batch, out_height, out_width, out_channels]`.
        pub output: Place,
        /// Scratch for the columns of a tile of pixels, [`Window::tile_len`] int16.
        pub tile: Place,
        /// Sizes.
        pub window: Window,
        /// The zero point of the input, which padding has.
        pub input_zero: i32,
        /// Packed weights ([`crate::row`]).
        pub weights: u32,
        /// A [`crate::Channel`] per output channel; the bias contains the input's zero point times the weights.
        pub channels: u32,
        /// The result.
        pub bounds: Bounds,
        /// 1 if kernels may requantize without checks: all factors are below 1/2 and at least 2^-31, sums are below 2^23, the limits
        /// are those of int8, and the number of channels is a multiple of that of a panel or group ([`crate::row`]).
        pub direct: u32,
    }

    /// Convolution and fully connected layers, int8 to int8, with a residual in steps of the result: the factors of the channels are
    /// times 2^[`crate::requantize::FRACTION`].
    pub struct ConvolutionResidual {
        /// The convolution, whose output is that of the sum.
        pub convolution: Convolution,
        /// The residual.
        pub residual: Residual,
    }

    /// Convolution and fully connected layers, int8 to int8, and the sum of the result and an int8 tensor.
    pub struct ConvolutionAdd {
        /// The convolution, whose output is that of the sum.
        pub convolution: Convolution,
        /// Scratch for the convolution's results of a tile of pixels, int8 `[pixels][out_channels]`.
        pub results: Place,
        /// int8 elements in the order of the output: the output itself, or other memory.
        pub other: Place,
        /// The rule, whose left operand is the convolution's result.
        pub sum: Sum,
    }

    /// Convolution and fully connected layers, int8 to float32: `clamp(accumulator * scale)`.
    pub struct ConvolutionToFloat {
        /// int8 `[batch, in_height, in_width, in_channels]`.
        pub input: Place,
        /// float32 `[batch, out_channels, out_height, out_width]`.
        pub output: Place,
        /// Scratch, as in [`Convolution`].
        pub tile: Place,
        /// Sizes.
        pub window: Window,
        /// The zero point of the input.
        pub input_zero: i32,
        /// Packed weights.
        pub weights: u32,
        /// int32 biases, a float32 scale each.
        pub channels: u32,
        /// The smallest result.
        pub least: f32,
        /// The greatest result.
        pub most: f32,
    }

    /// [`Convolution`] with int4 weights ([`crate::row::int4`]).
    pub struct Convolution4 {
        /// The convolution.
        pub convolution: Convolution,
        /// Scratch for the int8 weights of a panel, if any.
        pub panel: Place,
    }

    /// [`ConvolutionToFloat`] with int4 weights.
    pub struct Convolution4ToFloat {
        /// The convolution.
        pub convolution: ConvolutionToFloat,
        /// As in [`Convolution4`].
        pub panel: Place,
    }

    /// Depthwise convolution: output channel `c` reads input channel `c`.
    pub struct Depthwise {
        /// int8 `[batch, in_height, in_width, in_channels]`.
        pub input: Place,
        /// int8 `[batch, out_height, out_width, in_channels]`.
        pub output: Place,
        /// Scratch for taps outside of the image, int8 `[in_channels]`.
        pub zeros: Place,
        /// Scratch for the offsets of taps, uint32 `[2][taps]`, where the taps are rounded up to an even number.
        pub offsets: Place,
        /// Sizes.
        pub window: Window,
        /// Packed weights ([`crate::row`]).
        pub weights: u32,
        /// A [`crate::Channel`] per channel; the bias contains the input's zero point times the weights.
        pub channels: u32,
        /// The zero point of the input.
        pub input_zero: i32,
        /// The result.
        pub bounds: Bounds,
        /// 1 if kernels may requantize without checks: see [`Convolution`].
        pub direct: u32,
    }

    /// The maximum of each window; padding does not count.
    pub struct Maximum {
        /// int8 `[batch, in_height, in_width, in_channels]`.
        pub input: Place,
        /// int8 `[batch, out_height, out_width, in_channels]`.
        pub output: Place,
        /// Sizes.
        pub window: Window,
    }

    /// The sum of each window, requantized: the scale contains the divisor. Padding has the value zero.
    pub struct Average {
        /// int8 `[batch, in_height, in_width, in_channels]`.
        pub input: Place,
        /// int8 `[batch, out_height, out_width, in_channels]`.
        pub output: Place,
        /// Sizes.
        pub window: Window,
        /// The zero point of the input.
        pub input_zero: i32,
        /// The input's scale by the result's and the divisor, times 2^[`crate::requantize::FRACTION`].
        pub scale: Multiplier,
        /// The result.
        pub bounds: Bounds,
    }

    /// How two int8 numbers are added, as TensorFlow Lite does: differences from the zero points, with
    /// [`crate::requantize::SUM_FRACTION`] fractional bits, are scaled to twice the greater of both scales, added, and requantized.
    pub struct Sum {
        /// The zero point of the left operand.
        pub left_zero: i32,
        /// The zero point of the right operand.
        pub right_zero: i32,
        /// The left scale relative to twice the greater one.
        pub left_scale: Multiplier,
        /// The right scale, likewise; negative to subtract.
        pub right_scale: Multiplier,
        /// Twice the greater scale relative to the result's, with the fractional bits removed.
        pub scale: Multiplier,
        /// The result.
        pub bounds: Bounds,
    }

    /// The sum of two tensors.
    pub struct Add {
        /// int8.
        pub left: Place,
        /// int8 elements, repeated as often as the left operand needs.
        pub right: Place,
        /// int8.
        pub output: Place,
        /// Elements of the left operand and of the result.
        pub count: u32,
        /// Elements of the right operand.
        pub period: u32,
        /// The rule.
        pub sum: Sum,
    }

    /// The product of two tensors.
    pub struct Multiply {
        /// int8.
        pub left: Place,
        /// int8 elements, repeated as often as the left operand needs.
        pub right: Place,
        /// int8.
        pub output: Place,
        /// Elements of the left operand and of the result.
        pub count: u32,
        /// Elements of the right operand.
        pub period: u32,
        /// The zero point of the left operand.
        pub left_zero: i32,
        /// The zero point of the right operand.
        pub right_zero: i32,
        /// The product of both scales by the result's.
        pub scale: Multiplier,
        /// The result.
        pub bounds: Bounds,
    }

    /// A function of single elements as a table.
    pub struct Table {
        /// int8.
        pub input: Place,
        /// int8.
        pub output: Place,
        /// Elements.
        pub count: u32,
        /// 256 int8 results, of -128 first.
        pub table: u32,
    }

    /// Softmax of rows: `exp` of the distance to the row's maximum is a table.
    pub struct Softmax {
        /// int8 `[rows, columns]`.
        pub input: Place,
        /// int8 `[rows, columns]`.
        pub output: Place,
        /// Rows.
        pub rows: u32,
        /// Columns.
        pub columns: u32,
        /// 256 uint32: `exp(-distance * scale)`, where 2^22 is 1.
        pub exponentials: u32,
        /// The result of the probability 1, in steps: the inverse of the scale.
        pub steps: u32,
        /// The zero point of the result.
        pub zero: i32,
    }

    /// Copies rows of bytes from or to rows of a wider tensor: an operand of a concatenation, and a slice.
    pub struct CopyRows {
        /// The first byte of the first row.
        pub input: Place,
        /// The first byte of the first row.
        pub output: Place,
        /// Rows.
        pub rows: u32,
        /// Bytes of a row.
        pub bytes: u32,
        /// Bytes of the input from a row to the next.
        pub input_pitch: u32,
        /// Bytes of the output from a row to the next.
        pub output_pitch: u32,
    }

    /// Swaps the last two dimensions of `[images, rows, columns]`, int8.
    pub struct Transpose {
        /// int8.
        pub input: Place,
        /// int8.
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

impl Place {
    /// The argument number of the blob's constants.
    pub const CONSTANT: u32 = u32::MAX;
}

impl Default for Place {
    fn default() -> Self {
        Self { argument: Self::CONSTANT, offset: 0 }
    }
}

impl Record for Place {
    fn read(words: &mut Words<'_>) -> Option<Self> {
        Some(Self { argument: words.word()?, offset: words.word()? })
    }

    fn write(&self, put: &mut dyn FnMut(u32)) {
        put(self.argument);
        put(self.offset);
    }

    fn visit(&mut self, visit: &mut dyn FnMut(Operand<'_>)) {
        if self.argument != Self::CONSTANT {
            visit(Operand { memory: &mut self.argument, offset: Some(&mut self.offset), access: Access::Read });
        }
    }

    fn show(&self, text: &mut dyn Text) {
        text.operand(self.argument);
    }
}

/// Declares the instructions with opcodes and the Cargo features that compile the kernels.
macro_rules! instructions {
    ($($number:literal => $name:ident $(if $feature:literal)?,)*) => {
        /// An instruction of a delegate blob.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs, reason = "the records say what they are")]
        #[allow(clippy::large_enum_variant, reason = "one is read at a time")]
        pub enum Instruction { $($name($name),)* }

        impl Record for Instruction {
            fn read(words: &mut Words<'_>) -> Option<Self> {
                match words.word()? {
                    $($number if $name::IS_COMPILED => $name::read(words).map(Self::$name),)*
                    _ => None,
                }
            }

            fn write(&self, put: &mut dyn FnMut(u32)) {
                match self { $(Self::$name(fields) => { put($number); fields.write(put); })* }
            }

            fn visit(&mut self, visit: &mut dyn FnMut(Operand<'_>)) {
                match self { $(Self::$name(fields) => fields.visit(visit),)* }
            }

            fn show(&self, text: &mut dyn Text) {
                match self { $(Self::$name(fields) => fields.show(text),)* }
            }
        }

        impl Instruction {
            /// The Cargo feature that compiles the instruction's kernel; `None` for kernels in every build.
            pub const fn feature(&self) -> Option<&'static str> {
                match self { $(Self::$name(_) => $name::FEATURE,)* }
            }
        }

        $(impl $name {
            const FEATURE: Option<&'static str> = instructions!(@feature $($feature)?);
            /// Whether this build has a kernel of the instruction. Without, a blob with the instruction is refused.
            pub const IS_COMPILED: bool = true $(&& cfg!(feature = $feature))?;
        }

        impl From<$name> for Instruction {
            fn from(fields: $name) -> Self {
                Self::$name(fields)
            }
        })*
    };
    (@feature) => { None };
    (@feature $feature:literal) => { Some($feature) };
}

instructions! {
    1 => Quantize,
    2 => Dequantize,
    3 => Convolution if "convolution",
    4 => ConvolutionToFloat if "float-output",
    5 => Depthwise if "depthwise",
    6 => Maximum if "pools",
    7 => Average if "pools",
    8 => Add if "arithmetic",
    9 => Multiply if "arithmetic",
    10 => Table if "tables",
    11 => Softmax if "softmax",
    12 => Transpose if "transpose",
    13 => ConvolutionResidual if "residual",
    14 => ConvolutionAdd if "sum",
    15 => Quantize16 if "int16-border",
    16 => Dequantize16 if "int16-border",
    17 => Convolution16 if "int16-convolution",
    18 => Depthwise16 if "int16-depthwise",
    19 => Maximum16 if "int16-pools",
    20 => Average16 if "int16-pools",
    21 => Add16 if "int16-arithmetic",
    22 => Multiply16 if "int16-arithmetic",
    23 => Table16 if "int16-tables",
    24 => Softmax16 if "int16-softmax",
    25 => Transpose16 if "int16-transpose",
    26 => Convolution4 if "int4",
    27 => Convolution4ToFloat if "int4-float-output",
    28 => Convolution16ToFloat if "int16-float-output",
    29 => Recurrent if "recurrent",
    30 => CopyRows if "copies",
}

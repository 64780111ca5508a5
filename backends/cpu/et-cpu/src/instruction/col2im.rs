//! The sums of a transposed convolution, behind the GEMM that makes their terms.

use et_record::{Write, records};

use super::conv2d::Activation;
use super::operand::Place;

records! {
    /// `output = activation(bias + sums)`: a GEMM makes columns of each input pixel, one for each kernel position and output channel,
    /// and an output pixel is the sum of the columns whose kernel position reaches it. Images are NDHWC; an absent dimension has size 1.
    pub struct Col2im {
        /// The columns `[batch, depth, height, width, groups, kernel positions, channels]`.
        pub columns: Place,
        /// The bias `[groups, channels]`; may be absent.
        pub bias: Place,
        /// The output `[batch, depth, height, width, groups, channels]`.
        pub output: Write<Place>,
        /// Batch size.
        pub batch: u32,
        /// The first spatial dimension.
        pub depth: Axis,
        /// The second spatial dimension.
        pub height: Axis,
        /// The last spatial dimension.
        pub width: Axis,
        /// Groups of channels.
        pub groups: u32,
        /// Output channels of a group.
        pub channels: u32,
        /// The activation of the sums.
        pub activation: Activation,
    }

    /// A spatial dimension of a transposed convolution.
    pub struct Axis {
        /// The size of the input.
        pub input: u32,
        /// The size of the output.
        pub output: u32,
        /// The size of the kernel.
        pub kernel: u32,
        /// Output positions from an input position to the next.
        pub stride: u32,
        /// Output positions that are cut off at the front.
        pub padding: u32,
        /// Output positions from a kernel position to the next.
        pub dilation: u32,
    }
}

impl Axis {
    /// The axis of an absent dimension.
    pub const ABSENT: Self = Self { input: 1, output: 1, kernel: 1, stride: 1, padding: 0, dilation: 1 };
}

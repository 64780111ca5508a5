//! The inner loops, in a row per instruction set, and the layouts that they read.
//!
//! The columns of a tile of pixels are int16: `[pair][pixel][2]`, where a pair is two neighbouring products of a sum. The weights
//! of a convolution are int8: `[channel / 2][pair][2 products][2 channels]`. A 32-bit word of weights has the products of two
//! channels, so that `sxtb16` gives the two products of a channel as a pair. The weights of a depthwise convolution are int16:
//! `[channel / 4][tap][channels 0, 2, 1, 3]`, the order in which `sxtb16` gives the channels of a word of an image. Products and
//! channels behind the last have weights 0.

#[cfg(all(target_arch = "arm", feature = "dsp"))]
mod dsp;
#[cfg(not(all(target_arch = "arm", feature = "dsp")))]
mod plain;

#[cfg(all(target_arch = "arm", feature = "dsp"))]
use dsp as selected;
#[cfg(not(all(target_arch = "arm", feature = "dsp")))]
use plain as selected;

pub(crate) use selected::{depthwise, doubling_high_product, expand, products};

/// Pixels of a tile.
pub const LANES: usize = 4;

/// Channels that share a word of the weights of a convolution.
pub const CHANNELS: usize = 2;

/// Channels that share a word of an image in a depthwise convolution.
pub const DEPTHWISE_CHANNELS: usize = 4;

/// The order of the channels of a depthwise convolution's weights.
pub const DEPTHWISE_ORDER: [usize; DEPTHWISE_CHANNELS] = [0, 2, 1, 3];

/// An instruction set that kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Any processor.
    Plain,
    /// The DSP extension.
    Dsp,
}

impl Row {
    /// All rows.
    pub const ALL: [Self; 2] = [Self::Plain, Self::Dsp];

    /// The number in blobs.
    pub const fn number(self) -> u32 {
        match self {
            Self::Plain => 0,
            Self::Dsp => 1,
        }
    }

    /// The row with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|row| row.number() == number)
    }

    /// The Cargo feature that compiles the row; `None` for the row of every build.
    pub const fn feature(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Dsp => Some("dsp"),
        }
    }

    /// Whether this build executes blobs for the row. Both rows read the same layouts, and the plain row executes a blob for the
    /// other on a host.
    pub const fn is_compiled(self) -> bool {
        match self {
            Self::Plain => true,
            Self::Dsp => cfg!(any(feature = "dsp", not(target_os = "none"))),
        }
    }
}

/// The taps of a depthwise window of one pixel and [`DEPTHWISE_CHANNELS`] channels that lie inside of the image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taps {
    /// The first tap in the input.
    input: usize,
    /// Elements from the first tap to the end of the last.
    input_span: usize,
    /// The first tap in the weights.
    weights: usize,
    /// Elements from the first tap to the end of the last in the weights.
    weights_span: usize,
    distances: Distances,
}

/// The distances between taps, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distances {
    /// Between rows of taps.
    pub input_row: usize,
    /// Between taps of a row.
    pub input_tap: usize,
    /// Between rows of taps in the weights.
    pub weights_row: usize,
    /// Rows of taps.
    pub rows: usize,
    /// Taps of a row.
    pub columns: usize,
}

impl Taps {
    /// The taps from these places on.
    pub(crate) fn new(input: usize, weights: usize, distances: Distances) -> Self {
        let Distances { input_row, input_tap, weights_row, rows, columns } = distances;
        let (rows, columns) = (rows.saturating_sub(1), columns.saturating_sub(1));
        let input_span = rows * input_row + columns * input_tap + DEPTHWISE_CHANNELS;
        let weights_span = rows * weights_row + columns * DEPTHWISE_CHANNELS + DEPTHWISE_CHANNELS;
        Self { input, input_span, weights, weights_span, distances }
    }

    /// Whether there are taps, and all lie inside of operands of these lengths.
    #[inline(always)]
    pub(crate) const fn fit(&self, input: usize, weights: usize) -> bool {
        let has_taps = self.distances.rows > 0 && self.distances.columns > 0;
        has_taps && self.input + self.input_span <= input && self.weights + self.weights_span <= weights
    }

    /// Goes on to the next channels; a window has `taps` taps.
    #[inline(always)]
    pub(crate) const fn advance(&mut self, taps: usize) {
        self.input += DEPTHWISE_CHANNELS;
        self.weights += taps * DEPTHWISE_CHANNELS;
    }

    /// Visits the places of the taps in input and weights.
    #[inline(always)]
    pub(crate) fn for_each(&self, mut visit: impl FnMut(usize, usize)) {
        for row in 0..self.distances.rows {
            for column in 0..self.distances.columns {
                let input = self.input + row * self.distances.input_row + column * self.distances.input_tap;
                visit(input, self.weights + row * self.distances.weights_row + column * DEPTHWISE_CHANNELS);
            }
        }
    }
}

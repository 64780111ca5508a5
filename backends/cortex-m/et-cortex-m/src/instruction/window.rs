//! The sizes of convolutions and pools.

use et_core::{Error, Result};
use et_record::records;

use crate::row::int4::half;
use crate::row::{BLOCK_CHANNELS, CHANNELS, LANES, Layout};

records! {
    /// The sizes of a convolution or pool.
    pub struct Window {
        /// Images.
        pub batch: u32,
        /// Rows of an input image.
        pub in_height: u32,
        /// Columns of an input image.
        pub in_width: u32,
        /// Channels of an input image.
        pub in_channels: u32,
        /// Rows of an output image.
        pub out_height: u32,
        /// Columns of an output image.
        pub out_width: u32,
        /// Channels of an output image.
        pub out_channels: u32,
        /// Rows of the window.
        pub kernel_height: u32,
        /// Columns of the window.
        pub kernel_width: u32,
        /// Rows between windows.
        pub stride_height: u32,
        /// Columns between windows.
        pub stride_width: u32,
        /// Rows of padding above.
        pub pad_top: u32,
        /// Columns of padding to the left.
        pub pad_left: u32,
        /// Rows between taps.
        pub dilation_height: u32,
        /// Columns between taps.
        pub dilation_width: u32,
    }
}

/// The most places of an image that windows or taps span, so that sums of a few of them fit in `i32`.
const MOST_PLACES: u32 = 1 << 28;

impl Window {
    /// Elements of the input. Every kernel asks for them first.
    ///
    /// # Errors
    /// [`Error::InvalidProgram`] where the number does not fit in memory, for windows without taps, and where windows or taps span more than
    /// 2^28 places of the image.
    pub fn input_len(&self) -> Result<usize> {
        if self.taps()? == 0 || self.in_channels == 0 {
            return Err(Error::InvalidProgram);
        }
        let windows = [(self.out_height, self.stride_height), (self.out_width, self.stride_width)];
        let taps = [(self.kernel_height, self.dilation_height), (self.kernel_width, self.dilation_width)];
        let places = windows.into_iter().chain(taps).chain([(self.pad_top, 1), (self.pad_left, 1)]);
        for (count, step) in places {
            count.checked_mul(step).filter(|places| *places <= MOST_PLACES).ok_or(Error::InvalidProgram)?;
        }
        product([self.batch, self.in_height, self.in_width, self.in_channels])
    }

    /// Pixels of all output images.
    ///
    /// # Errors
    /// As [`Window::input_len`].
    pub fn out_pixels(&self) -> Result<usize> {
        product([self.batch, self.out_height, self.out_width, 1])
    }

    /// Elements of the output.
    ///
    /// # Errors
    /// As [`Window::input_len`].
    pub fn output_len(&self) -> Result<usize> {
        product([self.batch, self.out_height, self.out_width, self.out_channels])
    }

    /// Taps of a window: rows times columns.
    ///
    /// # Errors
    /// As [`Window::input_len`].
    pub fn taps(&self) -> Result<usize> {
        product([self.kernel_height, self.kernel_width, 1, 1])
    }

    /// Products per output element of a convolution: taps times channels.
    ///
    /// # Errors
    /// As [`Window::input_len`].
    pub fn products(&self) -> Result<usize> {
        product([self.kernel_height, self.kernel_width, self.in_channels, 1])
    }

    /// Whether the columns of a convolution are the image: the pixels of the output are those of the input.
    pub const fn is_pointwise(&self) -> bool {
        self.kernel_height == 1
            && self.kernel_width == 1
            && self.in_height == self.out_height
            && self.in_width == self.out_width
            && self.stride_height == 1
            && self.stride_width == 1
            && self.pad_top == 0
            && self.pad_left == 0
    }

    /// Pairs of products per output element of a convolution: half of taps times channels, rounded up.
    ///
    /// # Errors
    /// As [`Window::input_len`].
    pub fn pairs(&self) -> Result<usize> {
        self.products().map(|products| products.div_ceil(2))
    }

    /// int16 elements of the scratch for a tile of pixels.
    ///
    /// # Errors
    /// As [`Window::input_len`].
    pub fn tile_len(&self) -> Result<usize> {
        self.int16_tile_len(2)
    }

    /// int16 elements of the scratch for a tile of pixels in blocks of products ([`crate::row::int16`]): of one pixel where the output has
    /// fewer than a tile.
    ///
    /// # Errors
    /// As [`Window::input_len`].
    pub fn int16_tile_len(&self, block: usize) -> Result<usize> {
        let lanes = if self.out_pixels()? < LANES { 1 } else { LANES };
        self.int16_column_len(block)?.checked_mul(lanes).ok_or(Error::InvalidProgram)
    }

    /// int16 elements of the columns of a pixel in blocks of products.
    ///
    /// # Errors
    /// As [`Window::input_len`].
    pub fn int16_column_len(&self, block: usize) -> Result<usize> {
        self.products()?.checked_next_multiple_of(block).ok_or(Error::InvalidProgram)
    }

    /// Bytes of scratch for the columns of a tile; none where the columns are the image.
    ///
    /// # Errors
    /// As [`Window::input_len`].
    pub fn tile_bytes(&self, layout: Layout) -> Result<usize> {
        let bytes = match layout {
            Layout::Pairs => self.tile_len()?.checked_mul(size_of::<i16>()),
            Layout::Blocks(_) if self.is_pointwise() => Some(0),
            Layout::Blocks(_) => self.products()?.checked_mul(layout.lanes()),
        };
        bytes.ok_or(Error::InvalidProgram)
    }

    /// The bytes of int4 weights of a panel ([`crate::row::int4`]).
    ///
    /// # Errors
    /// As [`Window::input_len`].
    pub fn int4_panel_bytes(&self, layout: Layout) -> Result<usize> {
        match layout {
            Layout::Pairs => self.pairs()?.div_ceil(2).checked_mul(2 * CHANNELS).ok_or(Error::InvalidProgram),
            Layout::Blocks(_) => self.int4_scratch_bytes(layout).map(|bytes| bytes / 2),
        }
    }

    /// The bytes of scratch for the int8 weights of a panel; none where an inner loop unpacks int4.
    ///
    /// # Errors
    /// As [`Window::input_len`].
    pub fn int4_scratch_bytes(&self, layout: Layout) -> Result<usize> {
        let Layout::Blocks(block) = layout else { return Ok(0) };
        let products = self.products()?.checked_next_multiple_of(block);
        let bytes = products.and_then(|products| products.checked_mul(BLOCK_CHANNELS));
        bytes.and_then(|bytes| bytes.checked_next_multiple_of(2 * half(block))).ok_or(Error::InvalidProgram)
    }
}

fn product(sizes: [u32; 4]) -> Result<usize> {
    let product = sizes.iter().try_fold(1_u32, |product, size| product.checked_mul(*size));
    product.filter(|product| *product <= i32::MAX as u32).map(|product| product as usize).ok_or(Error::InvalidProgram)
}

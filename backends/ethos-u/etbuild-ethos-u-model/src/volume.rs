//! Feature maps as integers.

/// Rows, columns and channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// Channels.
    pub depth: usize,
}

impl Size {
    /// The size of a single number.
    pub const ONE: Self = Self { height: 1, width: 1, depth: 1 };

    /// The number of elements. Sizes come from registers of 16 bits, and at most two are joined, so that nothing overflows.
    pub const fn elements(self) -> usize {
        self.height.saturating_mul(self.width).saturating_mul(self.depth)
    }

    /// The positions of the pixels, row by row.
    pub fn pixels(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.height).flat_map(move |y| (0..self.width).map(move |x| (y, x)))
    }
}

/// The elements of a feature map: channels of a pixel beside each other, then columns, then rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// The size.
    pub size: Size,
    /// The elements.
    pub values: Vec<i64>,
}

impl Volume {
    /// A volume with a number at every pixel and channel.
    pub fn of(size: Size, value: impl Fn(usize, usize, usize) -> i64) -> Self {
        let channels = |(y, x)| {
            let value = &value;
            (0..size.depth).map(move |channel| value(y, x, channel))
        };
        Self { size, values: size.pixels().flat_map(channels).collect() }
    }

    /// The channels of a pixel; nothing outside.
    pub fn pixel(&self, y: usize, x: usize) -> &[i64] {
        let start = (y * self.size.width + x) * self.size.depth;
        self.values.get(start..start + self.size.depth).unwrap_or_default()
    }

    /// The element at a position. A dimension of size 1 is broadcast.
    pub fn broadcast(&self, y: usize, x: usize, channel: usize) -> i64 {
        let Size { height, width, depth } = self.size;
        let pixel = self.pixel(y.min(height - 1), x.min(width - 1));
        pixel.get(channel.min(depth - 1)).copied().unwrap_or_default()
    }
}

//! An image of rows and columns.

use crate::family::spatial::Volume;

/// A tensor as batch, channels, rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    /// The four sizes.
    pub sizes: [usize; 4],
    /// The four strides.
    pub strides: [usize; 4],
}

impl Picture {
    /// The picture of a volume that has a single plane.
    pub fn of(volume: &Volume) -> Option<Self> {
        let without_planes = |[batch, channel, _, row, column]: [usize; 5]| [batch, channel, row, column];
        let picture = Self { sizes: without_planes(volume.sizes), strides: without_planes(volume.strides) };
        (volume.sizes[2] == 1).then_some(picture)
    }

    /// The offset of row 0, column 0 of a channel.
    #[inline]
    pub const fn plane(&self, batch: usize, channel: usize) -> usize {
        batch * self.strides[0] + channel * self.strides[1]
    }

    /// The offset of a pixel in its plane.
    #[inline]
    pub const fn pixel(&self, row: usize, column: usize) -> usize {
        row * self.strides[2] + column * self.strides[3]
    }
}

//! The order of work on the pixels and channels of windows, which numbers and bytes share.

use core::ops::Range;

use et_simd::Isa;

use crate::window::Window;

/// Neighbouring pixels of an output row, or one, and the taps that they have.
pub struct Pixels {
    /// The row.
    pub row: usize,
    /// The first column.
    pub column: usize,
    /// The taps of the window that are within the image, for all of the pixels.
    pub taps: [Range<usize>; 2],
}

/// What computes some pixels of some channels.
pub trait Tile<S: Isa> {
    /// `P` pixels of `N` vectors of channels from `channel` on.
    fn vectors<const P: usize, const N: usize>(&mut self, isa: S, pixels: &Pixels, channel: usize);
    /// `P` pixels of all channels, which are fewer than a vector has.
    fn rest<const P: usize>(&mut self, isa: S, pixels: &Pixels, channel: usize);
}

/// The pixels of a tile away from the borders.
const PIXELS: usize = 4;

/// Computes an output row.
#[inline(always)]
pub fn row<S: Isa, T: Tile<S>>(isa: S, tile: &mut T, window: &Window, channels: usize, row: usize) {
    let rows = window.taps(0, row);
    let inner = window.inner(1);
    let mut column = 0;
    while column < window.output[1] {
        if inner.contains(&column) && inner.end - column >= PIXELS {
            let taps = [rows.clone(), window.taps(1, column)];
            let pixels = Pixels { row, column, taps };
            channel_vectors::<S, PIXELS>(isa, tile, &pixels, channels);
            column += PIXELS;
        } else {
            let taps = [rows.clone(), window.taps(1, column)];
            let pixels = Pixels { row, column, taps };
            channel_vectors::<S, 1>(isa, tile, &pixels, channels);
            column += 1;
        }
    }
}

#[inline(always)]
fn channel_vectors<S: Isa, const P: usize>(isa: S, tile: &mut impl Tile<S>, pixels: &Pixels, channels: usize) {
    let mut channel = 0;
    if P == 1 {
        while channel + 4 * S::LANES <= channels {
            tile.vectors::<P, 4>(isa, pixels, channel);
            channel += 4 * S::LANES;
        }
    }
    // With few registers, the sums of two vectors leave none for what is added to them.
    while (P == 1 || S::REGISTERS >= 32) && channel + 2 * S::LANES <= channels {
        tile.vectors::<P, 2>(isa, pixels, channel);
        channel += 2 * S::LANES;
    }
    while channel + S::LANES <= channels {
        tile.vectors::<P, 1>(isa, pixels, channel);
        channel += S::LANES;
    }
    if channel < channels && channels >= S::LANES {
        // Computing some channels again is faster than computing fewer.
        tile.vectors::<P, 1>(isa, pixels, channels - S::LANES);
    } else if channel < channels {
        tile.rest::<P>(isa, pixels, channel);
    }
}

//! Loop order over the output pixels and channels of pooling, shared by `f32` and int8.

use core::ops::Range;

use et_simd::Simd;

use crate::window::Window;

/// Neighbouring pixels of an output row, or a single pixel, and the kernel positions in the image.
pub struct Pixels {
    /// The output row.
    pub row: usize,
    /// The first output column.
    pub column: usize,
    /// The kernel positions that are within the image for each of the pixels.
    pub taps: [Range<usize>; 2],
}

/// A micro-kernel over pixels and channels.
pub trait Tile<S: Simd> {
    /// Computes `P` pixels of `N` vectors of channels, from `channel` on.
    fn vectors<const P: usize, const N: usize>(&mut self, isa: S, pixels: &Pixels, channel: usize);
    /// Computes `P` pixels of fewer channels than a vector.
    fn rest<const P: usize>(&mut self, isa: S, pixels: &Pixels, channel: usize);
}

/// Pixels per tile away from the borders.
const PIXELS: usize = 4;

/// Computes an output row.
#[inline(always)]
pub fn row<S: Simd, T: Tile<S>>(isa: S, tile: &mut T, window: &Window, channels: usize, row: usize) {
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
fn channel_vectors<S: Simd, const P: usize>(isa: S, tile: &mut impl Tile<S>, pixels: &Pixels, channels: usize) {
    let mut channel = 0;
    if P == 1 {
        while channel + 4 * S::LANES <= channels {
            tile.vectors::<P, 4>(isa, pixels, channel);
            channel += 4 * S::LANES;
        }
    }
    // With 16 registers, the accumulators of two vectors leave no register for the operands.
    while (P == 1 || S::REGISTERS >= 32) && channel + 2 * S::LANES <= channels {
        tile.vectors::<P, 2>(isa, pixels, channel);
        channel += 2 * S::LANES;
    }
    while channel + S::LANES <= channels {
        tile.vectors::<P, 1>(isa, pixels, channel);
        channel += S::LANES;
    }
    if channel < channels && channels >= S::LANES {
        // Recomputing channels of the previous vector is faster than a partial vector.
        tile.vectors::<P, 1>(isa, pixels, channels - S::LANES);
    } else if channel < channels {
        tile.rest::<P>(isa, pixels, channel);
    }
}

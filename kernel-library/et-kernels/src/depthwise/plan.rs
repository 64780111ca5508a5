//! How the lines of an image are prepared for a window.

use super::arithmetic::{Arithmetic, lanes};
use crate::window::Window;

/// The pixels of a tile: the images of most networks are multiples of 7 wide.
pub const PIXELS: usize = 7;
/// The words that prepared lines may have in all: together with what else is at hand, a small cache holds them.
pub const LINE_WORDS: usize = 6144;
/// The words that prepared weights may have.
pub const WEIGHT_WORDS: usize = 2048;
/// The most vectors of channels whose lines are prepared at a time: those of bytes are then a line of a cache.
const MOST_DEPTH: usize = 4;
/// The most lines of an image that are prepared at a time.
pub const MOST_LINES: usize = 32;

/// The layout of prepared lines. The taps of a row of a window are in groups of [`Arithmetic::TAPS`], and a line has vectors
/// of neighbouring pixels, each of which serves a group of one or more windows.
#[derive(Clone, Copy)]
pub struct Plan {
    /// The groups of a row of a window.
    pub groups: usize,
    /// From a vector's first pixel to that of the next.
    pub stride: usize,
    /// The vectors from a window to the next.
    pub window_step: usize,
    /// The vectors from a group to the next.
    pub group_step: usize,
    /// The lines that windows of an output row reach over, each kept until all windows are done with it.
    pub lines: usize,
    /// The output pixels that lines serve, a multiple of [`PIXELS`].
    pub pixels: usize,
    /// The vectors of a line.
    pub vectors: usize,
    /// The vectors of channels whose lines are prepared at a time.
    pub depth: usize,
}

impl Plan {
    /// The plan, unless the window is too large.
    pub fn new<A: Arithmetic>(window: &Window) -> Option<Self> {
        let groups = window.kernel[1].div_ceil(A::TAPS);
        let reach = A::TAPS.checked_mul(window.dilation[1])?;
        let stride = if reach.is_multiple_of(window.stride[1]) { window.stride[1] } else { 1 };
        let [window_step, group_step] = [window.stride[1] / stride, reach / stride];
        let lines = (window.kernel[0] - 1) * window.dilation[0] + 1;
        let weights = window.kernel[0].checked_mul(groups + 1)?;
        let first = (groups - 1).checked_mul(group_step)?.checked_add(1)?;
        let room = LINE_WORDS / lanes::<A>() / lines;
        let most = room.checked_sub(first)? / window_step + 1;
        let pixels = (most / PIXELS * PIXELS).min(window.output[1].next_multiple_of(PIXELS));
        let vectors = first + pixels.checked_sub(1)? * window_step;
        let depth = (room / vectors).min(WEIGHT_WORDS / lanes::<A>() / weights).min(MOST_DEPTH);
        let plan = Self { groups, stride, window_step, group_step, lines, pixels, vectors, depth };
        (lines <= MOST_LINES && depth > 0).then_some(plan)
    }
}

//! The layout of packed lines.

use super::arithmetic::{Arithmetic, lanes};
use crate::window::Window;

/// Pixels per tile: the image widths of most networks are multiples of 7.
pub const PIXELS: usize = 7;
/// Size of the line buffer in 32-bit words: lines, weights and output fit L1 together.
pub const LINE_WORDS: usize = 6144;
/// Size of the weight buffer in 32-bit words.
pub const WEIGHT_WORDS: usize = 2048;
/// The maximum number of channel vectors per block: four vectors of int8 are a cache line.
const MOST_DEPTH: usize = 4;
/// The maximum number of packed lines.
pub const MOST_LINES: usize = 32;

/// The layout of packed lines. A kernel row is split into groups of [`Arithmetic::TAPS`] positions; a packed line has
/// vectors of neighbouring pixels, each shared by groups of several receptive fields.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Groups per kernel row.
    pub groups: usize,
    /// Pixels from a vector to the next.
    pub stride: usize,
    /// Vectors from a receptive field to the next.
    pub window_step: usize,
    /// Vectors from a group to the next.
    pub group_step: usize,
    /// Lines in the ring buffer: the vertical extent of a receptive field.
    pub lines: usize,
    /// Output pixels per packed line, a multiple of [`PIXELS`].
    pub pixels: usize,
    /// Vectors per line.
    pub vectors: usize,
    /// Channel vectors per block.
    pub depth: usize,
}

impl Plan {
    /// The plan, or `None` if the kernel is too large.
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

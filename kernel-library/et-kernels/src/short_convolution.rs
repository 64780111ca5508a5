//! Causal depthwise convolution over the positions of a text, whose earlier rows are in a ring buffer.

use core::ops::Range;

use et_core::Result;
use et_simd::{Float, Level, Simd, Work};

use crate::check::{ensure, product};

/// A short convolution of `[rows, channels]`, as in LFM2, Mamba and Qwen3-Next.
pub struct ShortConvolution<'a> {
    /// The rows of the chunk, `[rows, channels]`.
    pub rows: &'a [f32],
    /// The ring buffer with the rows before the chunk, `[slots, channels]`, position `p` in slot `p % slots`.
    pub cache: &'a [f32],
    /// The weights by kernel position, `[length, channels]`; the last position is that of the row itself.
    pub weights: &'a [f32],
    /// The bias, `[channels]`.
    pub bias: Option<&'a [f32]>,
    /// The number of channels.
    pub channels: usize,
    /// The position of the first row, and the last row that is a token.
    pub span: [usize; 2],
}

/// Computes a range of rows. The rows of the chunk may be in the ring buffer too, so the buffer needs a slot for each position that a
/// row sees.
#[inline]
pub fn convolve(level: Level, work: &ShortConvolution<'_>, range: Range<usize>, output: &mut [f32]) -> Result<()> {
    let (channels, [start, last]) = (work.channels, work.span);
    ensure(channels > 0 && range.start <= range.end)?;
    let [rows, slots, length] = [work.rows, work.cache, work.weights].map(|all| all.len() / channels);
    let are_whole = [work.rows, work.cache, work.weights].iter().all(|all| all.len().is_multiple_of(channels));
    ensure(are_whole && range.end <= rows && output.len() == product(&[range.len(), channels])?)?;
    ensure(work.bias.is_none_or(|bias| bias.len() == channels) && slots > 0)?;
    ensure(last < rows && start.checked_add(rows).is_some())?;
    ensure(start + last < slots || length.saturating_add(last) <= slots)?;
    level.run(Rows { work, slots, length, range, output });
    Ok(())
}

struct Rows<'a> {
    work: &'a ShortConvolution<'a>,
    slots: usize,
    length: usize,
    range: Range<usize>,
    output: &'a mut [f32],
}

impl Work for Rows<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        let (channels, first) = (self.work.channels, self.range.start);
        for row in self.range.clone() {
            let output = &mut self.output[(row - first) * channels..][..channels];
            match self.work.bias {
                Some(bias) => output.copy_from_slice(bias),
                None => output.fill(0.0),
            }
            for (position, weights) in self.work.weights.chunks_exact(channels).enumerate() {
                let Some(source) = self.work.seen(row, self.length - 1 - position, self.slots) else { continue };
                for at in (0..channels).step_by(S::LANES) {
                    let sum = isa.load(source, at).mul_add(isa.load(weights, at), isa.load(output, at));
                    isa.store(output, at, sum);
                }
            }
        }
    }
}

impl ShortConvolution<'_> {
    /// The row that lies `before` rows ahead of a row; `None` ahead of the text.
    #[inline(always)]
    fn seen(&self, row: usize, before: usize, slots: usize) -> Option<&[f32]> {
        let (all, number) = match row.checked_sub(before) {
            Some(row) => (self.rows, row),
            None => (self.cache, (self.span[0] + row).checked_sub(before)? % slots),
        };
        all.get(number * self.channels..(number + 1) * self.channels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{check, numbers};
    use std::vec::Vec;

    /// All rows of a text, chunk by chunk, as the convolution of the text.
    #[test]
    fn chunks_are_the_convolution_of_the_text() {
        for (channels, length, chunk, slots, count) in
            [(3, 4, 2, 6, 11), (37, 3, 5, 7, 12), (16, 1, 1, 1, 3), (8, 4, 4, 40, 9)]
        {
            let (text, weights) = (numbers(count * channels, 1), numbers(length * channels, 2));
            let bias = (length % 2 == 0).then(|| numbers(channels, 3));
            let mut cache = std::vec![9.0; slots * channels];
            for start in (0..count).step_by(chunk) {
                let last = chunk.min(count - start) - 1;
                let rows: Vec<f32> =
                    (0..chunk * channels).map(|at| text.get(start * channels + at).copied().unwrap_or(7.0)).collect();
                let work = ShortConvolution {
                    rows: &rows,
                    cache: &cache,
                    weights: &weights,
                    bias: bias.as_deref(),
                    channels,
                    span: [start, last],
                };
                let expected = expected(&text, &work, start..start + last + 1);
                check("rows", &expected, 1e-6, |level, output| convolve(level, &work, 0..last + 1, output));
                for (row, slot) in (start..=start + last).map(|position| (position, position % slots)) {
                    let (row, slot) = (row * channels, slot * channels);
                    cache[slot..slot + channels].copy_from_slice(&text[row..row + channels]);
                }
            }
        }
    }

    fn expected(text: &[f32], work: &ShortConvolution<'_>, positions: Range<usize>) -> Vec<f64> {
        let (channels, length) = (work.channels, work.weights.len() / work.channels);
        let element = |position: usize, channel: usize| {
            let products = (0..length).filter(|before| *before <= position).map(|before| {
                let weight = work.weights[(length - 1 - before) * channels + channel];
                f64::from(text[(position - before) * channels + channel]) * f64::from(weight)
            });
            products.sum::<f64>() + work.bias.map_or(0.0, |bias| f64::from(bias[channel]))
        };
        positions.flat_map(|position| (0..channels).map(move |channel| element(position, channel))).collect()
    }

    #[test]
    fn a_ring_buffer_that_is_too_short_is_refused() {
        let of = |slots: usize, start| {
            let (rows, cache, weights) = ([1.0; 2], [1.0; 8], [1.0; 4]);
            let cache = &cache[..slots];
            let work =
                ShortConvolution { rows: &rows, cache, weights: &weights, bias: None, channels: 1, span: [start, 1] };
            convolve(Level::Portable, &work, 0..2, &mut [0.0; 2])
        };
        assert!(of(5, 9).is_ok() && of(4, 9).is_err() && of(4, 2).is_ok() && of(4, 3).is_err() && of(0, 0).is_err());
    }
}

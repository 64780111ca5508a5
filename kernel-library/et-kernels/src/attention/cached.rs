//! Attention of rows of a text to a cache of keys and values that is written around its end: one row at a time, over the
//! memory as it lies, because what decides the time is that all of it is read once.
//!
//! Positions are outside and heads inside, so that keys and values come in the order of their addresses. Scores of all heads
//! wait in scratch memory in between.
#![allow(unsafe_code)] // Threads write interleaved rows of one output; bounds are checked once for a call.

use core::ops::Range;

use et_core::Result;
use et_simd::{Float, Isa, Level, Work, math};

use super::Numbers;
use super::kept::Kept;
use crate::check::ensure;

/// Positions whose keys or values stay in a first-level cache while all heads that share them meet them.
const BLOCK: usize = 8;
/// Keys that meet a query at a time.
const KEYS: usize = 4;
/// Vectors of a result that are summed at a time.
const VECTORS: usize = 4;

/// What attends to what.
#[derive(Clone, Copy, Debug)]
pub struct Cached<'a> {
    /// Rows that attend.
    pub rows: usize,
    /// Heads of a row.
    pub heads: usize,
    /// Heads of keys and values, of which [`Self::heads`] is a multiple: neighbouring heads share them.
    pub key_heads: usize,
    /// Numbers of a query, a key, and a value.
    pub width: usize,
    /// Rows of the cache: position `p` is in slot `p % slots`.
    pub slots: usize,
    /// The position of the first row.
    pub start: usize,
    /// The last row that is a token; those behind it see what it sees.
    pub last: usize,
    /// How many positions a row sees, its own included.
    pub window: usize,
    /// Scores are `tanh(score / soft_cap) * soft_cap`, unless it is 0.
    pub soft_cap: f32,
    /// What products of queries and keys are multiplied by.
    pub scale: f32,
    /// `[rows, heads, width]`.
    pub query: &'a [f32],
    /// `[slots, key_heads, width]`.
    pub keys: Numbers<'a>,
    /// `[slots, key_heads, width]`.
    pub values: Numbers<'a>,
}

impl Cached<'_> {
    /// The parts of the work: a row and the heads that share keys.
    pub const fn items(&self) -> usize {
        self.rows * self.key_heads
    }

    /// The numbers of scratch memory that a thread needs: for each head a score for each slot, and their sum.
    pub const fn scratch(&self) -> usize {
        self.heads * (self.slots + 1)
    }

    /// Heads that read the same keys.
    const fn sharing(&self) -> usize {
        self.heads / self.key_heads
    }

    /// The positions that a row sees.
    pub const fn seen(&self, row: usize) -> Range<usize> {
        let end = self.start + if row < self.last { row } else { self.last } + 1;
        end.saturating_sub(self.window)..end
    }

    /// An error unless all that is read is there.
    fn check(&self, items: &Range<usize>, output: usize, scratch: usize) -> Result<()> {
        let [rows, cached] = [self.rows * self.heads * self.width, self.slots * self.key_heads * self.width];
        ensure(self.key_heads > 0 && self.heads.is_multiple_of(self.key_heads) && self.width > 0 && self.slots > 0)?;
        ensure(self.query.len() == rows && output == rows && self.keys.len() == cached && self.values.len() == cached)?;
        ensure(items.start <= items.end && items.end <= self.items() && scratch >= self.scratch())?;
        let end = self.start + self.last + 1;
        ensure(self.last < self.rows && (end <= self.slots || self.window.saturating_add(self.last) <= self.slots))
    }
}

/// Computes some items.
///
/// # Safety
/// `output`, `[rows, heads, width]`, is valid for writes, and while this runs nobody else reads or writes what belongs to the
/// items.
pub unsafe fn attend_part(
    level: Level,
    cached: &Cached<'_>,
    output: *mut [f32],
    items: Range<usize>,
    scratch: &mut [f32],
) -> Result<()> {
    cached.check(&items, output.len(), scratch.len())?;
    level.run(Attend { cached, output: output.cast(), items, scores: scratch });
    Ok(())
}

struct Attend<'a> {
    cached: &'a Cached<'a>,
    output: *mut f32,
    items: Range<usize>,
    scores: &'a mut [f32],
}

/// A head of a row.
#[derive(Clone, Copy)]
struct Head {
    /// Where its query and its result begin.
    offset: usize,
    /// Where its keys and values begin in those of a slot.
    key: usize,
    /// Where its scores begin.
    scores: usize,
}

/// Positions that the row sees, whose slots lie side by side.
#[derive(Clone, Copy)]
struct Span {
    /// The first slot.
    slot: usize,
    /// How many positions are before them.
    before: usize,
    count: usize,
}

impl Work for Attend<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Isa>(mut self, isa: S) {
        let key_heads = self.cached.key_heads;
        let mut item = self.items.start;
        while item < self.items.end {
            let (row, first) = (item / key_heads, item % key_heads);
            let last = key_heads.min(first + self.items.end - item);
            self.row(isa, row, first..last);
            item += last - first;
        }
    }
}

impl Attend<'_> {
    /// What the heads that read some heads of keys get in a row.
    #[inline(always)]
    fn row<S: Isa>(&mut self, isa: S, row: usize, key_heads: Range<usize>) {
        let sharing = self.cached.sharing();
        let heads = key_heads.start * sharing..key_heads.end * sharing;
        let count = self.cached.seen(row).len();
        for span in self.spans(row) {
            match self.cached.keys {
                Numbers::Floats(keys) => self.score(isa, row, heads.clone(), span, keys),
                Numbers::Halves(keys) => self.score(isa, row, heads.clone(), span, keys),
            }
        }
        for head in heads.clone() {
            let Head { scores, .. } = self.head(row, head);
            self.scores[scores + self.cached.slots] = 1.0 / self.exponentials(isa, scores..scores + count);
        }
        for span in self.spans(row) {
            match self.cached.values {
                Numbers::Floats(values) => self.weigh(isa, row, heads.clone(), span, values),
                Numbers::Halves(values) => self.weigh(isa, row, heads.clone(), span, values),
            }
        }
    }

    #[inline(always)]
    fn head(&self, row: usize, head: usize) -> Head {
        let Cached { heads, width, slots, .. } = *self.cached;
        let key = head / self.cached.sharing() * width;
        Head { offset: (row * heads + head) * width, key, scores: head * (slots + 1) }
    }

    /// What a row sees, at most [`BLOCK`] positions at a time.
    #[inline(always)]
    fn spans(&self, row: usize) -> impl Iterator<Item = Span> + use<> {
        let (seen, slots) = (self.cached.seen(row), self.cached.slots);
        let (mut slot, mut before) = (seen.start % slots, 0);
        core::iter::from_fn(move || {
            let count = BLOCK.min(seen.len() - before).min(slots - slot);
            let span = Span { slot, before, count };
            before += count;
            slot = if slot + count == slots { 0 } else { slot + count };
            (count > 0).then_some(span)
        })
    }

    /// The scores of some heads for some positions.
    #[inline(always)]
    fn score<S: Isa, K: Kept>(&mut self, isa: S, row: usize, heads: Range<usize>, span: Span, keys: &[K]) {
        for head in heads {
            let head = self.head(row, head);
            for at in (0..span.count).step_by(KEYS) {
                self.products(isa, head, span, at..span.count.min(at + KEYS), keys);
            }
        }
    }

    /// The scores of a head for at most [`KEYS`] positions of a span.
    #[inline(always)]
    fn products<S: Isa, K: Kept>(&mut self, isa: S, head: Head, span: Span, at: Range<usize>, keys: &[K]) {
        let Cached { width, query, key_heads, .. } = *self.cached;
        let place = |key: usize| (span.slot + at.start + key) * key_heads * width + head.key;
        let places: [usize; KEYS] = core::array::from_fn(|key| place(if key < at.len() { key } else { 0 }));
        let mut sums = [isa.splat(0.0); KEYS];
        for step in (0..width).step_by(S::LANES) {
            let left = width - step;
            // SAFETY: a query and each key have `width` numbers; lengths and places were checked.
            unsafe {
                let number = f32::read_some(isa, query.as_ptr().add(head.offset + step), left);
                for (sum, place) in sums.iter_mut().zip(&places) {
                    *sum = K::read_some(isa, keys.as_ptr().add(place + step), left).mul_add(number, *sum);
                }
            }
        }
        for (key, sum) in sums.into_iter().enumerate().take(at.len()) {
            self.scores[head.scores + span.before + at.start + key] = sum.sum() * self.cached.scale;
        }
    }

    /// Scores become what values are weighed with, but for the sum of all, which is the result.
    #[inline(always)]
    fn exponentials<S: Isa>(&mut self, isa: S, scores: Range<usize>) -> f32 {
        let (cap, count) = (self.cached.soft_cap, scores.len());
        let scores = &mut self.scores[scores];
        let mut greatest = isa.splat(f32::NEG_INFINITY);
        if cap > 0.0 {
            let (down, up) = (isa.splat(1.0 / cap), isa.splat(cap));
            for at in (0..count).step_by(S::LANES) {
                let score = isa.load(scores, at);
                isa.store(scores, at, math::tanh(isa, score * down) * up);
            }
        }
        for at in (0..count - count % S::LANES).step_by(S::LANES) {
            greatest = greatest.max(isa.load(scores, at));
        }
        let rest = scores[count - count % S::LANES..].iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let greatest = greatest.greatest().max(rest);
        let mut sum = 0.0;
        let mut sums = isa.splat(0.0);
        for at in (0..count).step_by(S::LANES) {
            let exponential = math::exp(isa, isa.load(scores, at) - isa.splat(greatest));
            isa.store(scores, at, exponential);
            if at + S::LANES <= count {
                sums = sums + exponential;
            } else {
                sum = scores[at..].iter().fold(0.0, |sum, number| sum + number);
            }
        }
        sum + sums.sum()
    }

    /// Adds values, each times its weight, to the results of some heads; after the last ones those are divided by the sum of
    /// weights.
    #[inline(always)]
    fn weigh<S: Isa, K: Kept>(&self, isa: S, row: usize, heads: Range<usize>, span: Span, values: &[K]) {
        let is_last = span.before + span.count == self.cached.seen(row).len();
        for head in heads {
            let head = self.head(row, head);
            let factor = if is_last { self.scores[head.scores + self.cached.slots] } else { 1.0 };
            for column in (0..self.cached.width).step_by(VECTORS * S::LANES) {
                self.weigh_columns(isa, head, span, (values, column), factor);
            }
        }
    }

    /// The same for some columns of the result of a head.
    #[inline(always)]
    fn weigh_columns<S: Isa, K: Kept>(
        &self,
        isa: S,
        head: Head,
        span: Span,
        (values, column): (&[K], usize),
        factor: f32,
    ) {
        let Cached { width, key_heads, .. } = *self.cached;
        let columns = (width - column).min(VECTORS * S::LANES);
        let result = self.output.wrapping_add(head.offset + column);
        let mut sums = [isa.splat(0.0); VECTORS];
        // SAFETY: results and values have `width` numbers, of which `columns` are left; lengths and places were checked.
        unsafe {
            if span.before > 0 {
                sums = vectors(isa, result.cast_const(), columns);
            }
            for at in 0..span.count {
                let weight = isa.splat(self.scores[head.scores + span.before + at]);
                let value = values.as_ptr().add((span.slot + at) * key_heads * width + head.key + column);
                for (sum, value) in sums.iter_mut().zip(vectors(isa, value, columns)) {
                    *sum = value.mul_add(weight, *sum);
                }
            }
            for (vector, sum) in sums.into_iter().enumerate() {
                let start = vector * S::LANES;
                let left = columns.saturating_sub(start);
                let scaled = sum * isa.splat(factor);
                match left {
                    0 => {}
                    _ if left >= S::LANES => isa.write(result.add(start), scaled),
                    _ => isa.write_part(result.add(start), left, scaled),
                }
            }
        }
    }
}

/// At most [`VECTORS`] vectors of `count` numbers; what is missing is 0.
///
/// # Safety
/// There are as many.
#[inline(always)]
unsafe fn vectors<S: Isa, K: Kept>(isa: S, from: *const K, count: usize) -> [S::F32; VECTORS] {
    let mut vectors = [isa.splat(0.0); VECTORS];
    for (index, vector) in vectors.iter_mut().enumerate() {
        let start = index * S::LANES;
        if start < count {
            // SAFETY: the caller's promise.
            *vector = unsafe { K::read_some(isa, from.add(start), count - start) };
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_close, numbers};
    use et_core::Half;
    use std::vec;
    use std::vec::Vec;

    /// The same in double precision.
    fn plain(cached: &Cached<'_>, keys: &[f32], values: &[f32]) -> Vec<f64> {
        let Cached { rows, heads, key_heads, width, slots, .. } = *cached;
        let mut output = vec![0.0; rows * heads * width];
        for (index, result) in output.chunks_mut(width).enumerate() {
            let (row, head) = (index / heads, index % heads);
            let own = |position: usize| (position % slots * key_heads + head / (heads / key_heads)) * width;
            let scores = cached.seen(row).map(|position| {
                let pairs = cached.query[index * width..][..width].iter().zip(&keys[own(position)..]);
                let score: f64 = pairs.map(|(query, key)| f64::from(*query) * f64::from(*key)).sum();
                let (score, cap) = (score * f64::from(cached.scale), f64::from(cached.soft_cap));
                (if cap > 0.0 { (score / cap).tanh() * cap } else { score }).exp()
            });
            let scores: Vec<f64> = scores.collect();
            let sum: f64 = scores.iter().sum();
            for (position, score) in cached.seen(row).zip(&scores) {
                for (result, value) in result.iter_mut().zip(&values[own(position)..]) {
                    *result += score / sum * f64::from(*value);
                }
            }
        }
        output
    }

    #[test]
    fn rows_attend_to_what_the_cache_has() {
        for (width, [heads, key_heads], [slots, start, rows, last], window, soft_cap) in [
            (8, [2, 1], [7, 0, 5, 4], usize::MAX, 0.0),
            (64, [4, 2], [80, 70, 3, 1], usize::MAX, 0.0),
            (33, [3, 3], [20, 55, 4, 3], 16, 0.0),
            (128, [6, 2], [600, 590, 1, 0], usize::MAX, 1.5),
            (80, [2, 2], [64, 1000, 9, 8], 50, 5.0),
        ] {
            let (query, cache) = (numbers(rows * heads * width, 1), numbers(slots * key_heads * width, 2));
            let values = numbers(slots * key_heads * width, 3);
            let scale = 1.0 / (width as f32).sqrt();
            let halves = |numbers: &[f32]| numbers.iter().map(|number| Half::from_f32(*number)).collect::<Vec<_>>();
            let (half_keys, half_values) = (halves(&cache), halves(&values));
            let widened = |halves: &[Half]| halves.iter().map(|half| half.to_f32()).collect::<Vec<_>>();
            let (wide_keys, wide_values) = (widened(&half_keys), widened(&half_values));
            for (kept, plain_of) in [
                ([Numbers::Floats(&cache), Numbers::Floats(&values)], [&cache, &values]),
                ([Numbers::Halves(&half_keys), Numbers::Halves(&half_values)], [&wide_keys, &wide_values]),
            ] {
                let [keys, values] = kept;
                let query = &query[..];
                let cached = Cached {
                    rows,
                    heads,
                    key_heads,
                    width,
                    slots,
                    start,
                    last,
                    window,
                    soft_cap,
                    scale,
                    query,
                    keys,
                    values,
                };
                let expected = plain(&cached, plain_of[0], plain_of[1]);
                for level in Level::available() {
                    let (mut output, mut scratch) = (vec![f32::NAN; rows * heads * width], vec![0.0; cached.scratch()]);
                    // SAFETY: the output is this test's own.
                    unsafe { attend_part(level, &cached, &raw mut output[..], 0..cached.items(), &mut scratch) }
                        .unwrap();
                    assert_close(level.name(), &output, &expected, 1e-5);
                }
            }
        }
    }

    #[test]
    fn a_text_longer_than_the_cache_is_refused() {
        let cached = Cached {
            rows: 1,
            heads: 1,
            key_heads: 1,
            width: 1,
            slots: 2,
            start: 2,
            last: 0,
            window: usize::MAX,
            soft_cap: 0.0,
            scale: 1.0,
            query: &[1.0],
            keys: Numbers::Floats(&[1.0; 2]),
            values: Numbers::Floats(&[1.0; 2]),
        };
        let mut output = [0.0];
        // SAFETY: the output is this test's own.
        let refused = unsafe { attend_part(Level::Portable, &cached, &raw mut output[..], 0..1, &mut [0.0; 3]) };
        assert!(refused.is_err());
    }
}

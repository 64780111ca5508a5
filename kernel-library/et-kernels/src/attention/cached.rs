//! Decode attention over a ring-buffer KV cache. The kernel streams the cache in address order, because decode is bound
//! by memory bandwidth. Few query rows share a pass over the cache, many rows take a pass each; the result of a row is
//! bit-identical either way.
//!
//! The outer loop runs over positions and the inner loop over heads, so that keys and values are read in address order.
//! Scratch memory holds the scores of every head in between.
#![allow(unsafe_code)] // Threads write interleaved rows of one output; bounds are checked once for a call.

use core::ops::Range;

use et_core::Result;
use et_simd::{Float, Level, Simd, Work, math};

use super::Numbers;
use super::kept::Kept;
use crate::check::ensure;

/// Positions per block: the keys or values of a block stay in L1 while the heads that share a KV head read the block.
const BLOCK: usize = 8;
/// Keys per query in the inner loop.
const KEYS: usize = 4;
/// Vectors of an output accumulated at a time.
const VECTORS: usize = 4;

/// The maximum number of query rows that share a pass over the cache.
pub const TOGETHER: usize = 8;
/// The number of parts that few rows are split into, if possible, for the threads to share.
const PARTS: usize = 8;

/// The operands of attention over a KV cache.
#[derive(Clone, Copy, Debug)]
pub struct Cached<'a> {
    /// Query rows.
    pub rows: usize,
    /// Query heads.
    pub heads: usize,
    /// KV heads, a divisor of [`Self::heads`]: neighbouring query heads share a KV head (grouped-query attention).
    pub key_heads: usize,
    /// Head dimension: elements of a query, a key and a value.
    pub width: usize,
    /// Slots of the ring buffer: position `p` is in slot `p % slots`.
    pub slots: usize,
    /// The position of the first query row.
    pub start: usize,
    /// The last row that is a real token; padding rows after this index see the same keys.
    pub last: usize,
    /// Sliding window: positions visible to a row, including the row's own position.
    pub window: usize,
    /// Soft-capping: `tanh(score / soft_cap) * soft_cap`; 0 disables soft-capping.
    pub soft_cap: f32,
    /// The scale of the query-key products.
    pub scale: f32,
    /// Queries `[rows, heads, width]`.
    pub query: &'a [f32],
    /// Keys `[slots, key_heads, width]`, each row followed by the scale of the storage type, if any.
    pub keys: Numbers<'a>,
    /// Values, in the layout of the keys.
    pub values: Numbers<'a>,
}

impl Cached<'_> {
    /// The items of work: a group of query rows that share a pass, times a KV head.
    pub const fn items(&self) -> usize {
        self.rows.div_ceil(self.together()) * self.key_heads
    }

    /// Scratch elements per thread: a score per slot and the reciprocal sum, for each row of a group and each head.
    pub const fn scratch(&self) -> usize {
        self.together() * self.heads * (self.slots + 1)
    }

    /// Query rows that share a pass over the cache.
    const fn together(&self) -> usize {
        let rows = self.rows * self.key_heads / PARTS;
        if self.rows > TOGETHER || rows == 0 {
            1
        } else if rows < self.rows {
            rows
        } else {
            self.rows
        }
    }

    /// Query heads per KV head.
    const fn sharing(&self) -> usize {
        self.heads / self.key_heads
    }

    /// The positions visible to a row.
    pub const fn seen(&self, row: usize) -> Range<usize> {
        let end = self.start + if row < self.last { row } else { self.last } + 1;
        end.saturating_sub(self.window)..end
    }

    /// Splits the positions visible to `rows` into blocks of at most [`BLOCK`]; yields the visible span of each row and
    /// block.
    #[inline(always)]
    fn spans(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Span)> {
        let (start, end) = (self.seen(rows.start).start, self.seen(rows.end - 1).end);
        let mut position = start;
        let blocks = core::iter::from_fn(move || {
            let slot = position % self.slots;
            let count = BLOCK.min(end - position).min(self.slots - slot);
            let block = (position, slot, count);
            position += count;
            (count > 0).then_some(block)
        });
        blocks.flat_map(move |(position, slot, count)| {
            rows.clone().filter_map(move |row| {
                let seen = self.seen(row);
                let (first, last) = (position.max(seen.start), (position + count).min(seen.end));
                let span = || Span { slot: slot + first - position, before: first - seen.start, count: last - first };
                (first < last).then(|| (row, span()))
            })
        })
    }

    /// Fails unless the operands, the output and the scratch cover the items.
    fn check(&self, items: &Range<usize>, output: usize, scratch: usize) -> Result<()> {
        let rows = self.rows * self.heads * self.width;
        let is_whole = |kept: &Numbers<'_>| kept.len() == self.slots * self.key_heads * kept.row(self.width);
        ensure(self.key_heads > 0 && self.heads.is_multiple_of(self.key_heads) && self.width > 0 && self.slots > 0)?;
        ensure(self.query.len() == rows && output == rows && is_whole(&self.keys) && is_whole(&self.values))?;
        ensure(items.start <= items.end && items.end <= self.items() && scratch >= self.scratch())?;
        let end = self.start + self.last + 1;
        ensure(self.last < self.rows && (end <= self.slots || self.window.saturating_add(self.last) <= self.slots))
    }
}

/// Computes a range of items.
///
/// # Safety
/// `output`, `[rows, heads, width]`, is valid for writes, and no other thread accesses the rows of the items during the
/// call.
#[inline]
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

/// A query head of a row.
#[derive(Clone, Copy)]
struct Head {
    /// Offset of the query and the output.
    offset: usize,
    /// The KV head.
    key: usize,
    /// Offset of the scores.
    scores: usize,
}

/// Visible positions in contiguous slots.
#[derive(Clone, Copy)]
struct Span {
    /// The first slot.
    slot: usize,
    /// Visible positions before the span.
    before: usize,
    count: usize,
}

impl Work for Attend<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, isa: S) {
        let (key_heads, together) = (self.cached.key_heads, self.cached.together());
        let mut item = self.items.start;
        while item < self.items.end {
            let (row, first) = (item / key_heads * together, item % key_heads);
            let last = key_heads.min(first + self.items.end - item);
            self.rows(isa, row..self.cached.rows.min(row + together), first..last);
            item += last - first;
        }
    }
}

impl Attend<'_> {
    /// Computes a group of rows for the query heads of a range of KV heads.
    #[inline(always)]
    fn rows<S: Simd>(&mut self, isa: S, rows: Range<usize>, key_heads: Range<usize>) {
        let cached = self.cached;
        let heads = key_heads.start * cached.sharing()..key_heads.end * cached.sharing();
        for (row, span) in cached.spans(rows.clone()) {
            match cached.keys {
                Numbers::Floats(keys) => self.score(isa, row, heads.clone(), span, keys),
                Numbers::Halves(keys) => self.score(isa, row, heads.clone(), span, keys),
                Numbers::Bytes(keys) => self.score(isa, row, heads.clone(), span, keys),
            }
        }
        for (row, head) in rows.clone().flat_map(|row| heads.clone().map(move |head| (row, head))) {
            let (Head { scores, .. }, count) = (self.head(row, head), cached.seen(row).len());
            self.scores[scores + cached.slots] = 1.0 / self.exponentials(isa, scores..scores + count);
        }
        for (row, span) in cached.spans(rows) {
            match cached.values {
                Numbers::Floats(values) => self.weigh(isa, row, heads.clone(), span, values),
                Numbers::Halves(values) => self.weigh(isa, row, heads.clone(), span, values),
                Numbers::Bytes(values) => self.weigh(isa, row, heads.clone(), span, values),
            }
        }
    }

    #[inline(always)]
    fn head(&self, row: usize, head: usize) -> Head {
        let Cached { heads, width, slots, .. } = *self.cached;
        let key = head / self.cached.sharing();
        let scores = (row % self.cached.together() * heads + head) * (slots + 1);
        Head { offset: (row * heads + head) * width, key, scores }
    }

    /// The scores of a range of heads for a span.
    #[inline(always)]
    fn score<S: Simd, K: Kept>(&mut self, isa: S, row: usize, heads: Range<usize>, span: Span, keys: &[K]) {
        for head in heads {
            let head = self.head(row, head);
            for at in (0..span.count).step_by(KEYS) {
                self.products(isa, head, span, at..span.count.min(at + KEYS), keys);
            }
        }
    }

    /// The scores of a head for at most [`KEYS`] positions of a span.
    #[inline(always)]
    fn products<S: Simd, K: Kept>(&mut self, isa: S, head: Head, span: Span, at: Range<usize>, keys: &[K]) {
        let Cached { width, query, key_heads, .. } = *self.cached;
        let place = |key: usize| ((span.slot + at.start + key) * key_heads + head.key) * (width + K::BEHIND);
        let places: [usize; KEYS] = core::array::from_fn(|key| place(if key < at.len() { key } else { 0 }));
        let mut sums = [isa.splat(0.0); KEYS];
        for step in (0..width).step_by(S::LANES) {
            let left = width - step;
            // SAFETY: query and keys have `width` elements; `check` validated the lengths, and the offsets are in
            // range.
            unsafe {
                let number = f32::read_some(isa, query.as_ptr().add(head.offset + step), left);
                for (sum, place) in sums.iter_mut().zip(&places) {
                    *sum = K::read_some(isa, keys.as_ptr().add(place + step), left).mul_add(number, *sum);
                }
            }
        }
        for (key, sum) in sums.into_iter().enumerate().take(at.len()) {
            // SAFETY: as above.
            let scale = unsafe { K::scale(keys.as_ptr().add(places[key]), width) };
            self.scores[head.scores + span.before + at.start + key] = sum.sum() * self.cached.scale * scale;
        }
    }

    /// Replaces scores by unnormalized softmax weights and returns the sum.
    #[inline(always)]
    fn exponentials<S: Simd>(&mut self, isa: S, scores: Range<usize>) -> f32 {
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

    /// Accumulates weighted values into the outputs of a range of heads; the last span divides by the sum of the
    /// weights.
    #[inline(always)]
    fn weigh<S: Simd, K: Kept>(&self, isa: S, row: usize, heads: Range<usize>, span: Span, values: &[K]) {
        let is_last = span.before + span.count == self.cached.seen(row).len();
        for head in heads {
            let head = self.head(row, head);
            let factor = if is_last { self.scores[head.scores + self.cached.slots] } else { 1.0 };
            for column in (0..self.cached.width).step_by(VECTORS * S::LANES) {
                self.weigh_columns(isa, head, span, (values, column), factor);
            }
        }
    }

    /// Accumulates weighted values into a range of columns of a head's output.
    #[inline(always)]
    fn weigh_columns<S: Simd, K: Kept>(
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
        // SAFETY: outputs and values have `width` elements, of which `columns` remain; `check` validated the lengths.
        unsafe {
            if span.before > 0 {
                sums = vectors(isa, result.cast_const(), columns);
            }
            for at in 0..span.count {
                let place = ((span.slot + at) * key_heads + head.key) * (width + K::BEHIND);
                let value = values.as_ptr().add(place);
                let weight = isa.splat(self.scores[head.scores + span.before + at] * K::scale(value, width));
                for (sum, value) in sums.iter_mut().zip(vectors(isa, value.add(column), columns)) {
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

/// Loads at most [`VECTORS`] vectors with `count` elements; the remaining lanes are 0.
///
/// # Safety
/// `from` is valid for reads of `count` elements.
#[inline(always)]
unsafe fn vectors<S: Simd, K: Kept>(isa: S, from: *const K, count: usize) -> [S::F32; VECTORS] {
    let mut vectors = [isa.splat(0.0); VECTORS];
    for (index, vector) in vectors.iter_mut().enumerate() {
        let start = index * S::LANES;
        if start < count {
            // SAFETY: the caller upholds the contract of this function.
            *vector = unsafe { K::read_some(isa, from.add(start), count - start) };
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::test::in_bytes;
    use crate::test::{assert_close, numbers};
    use et_core::Half;
    use std::vec;
    use std::vec::Vec;

    /// Reference attention in double precision.
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
            let [(byte_keys, rounded_keys), (byte_values, rounded_values)] =
                [&cache, &values].map(|numbers| in_bytes(numbers, width));
            for (kept, plain_of) in [
                ([Numbers::Bytes(&byte_keys), Numbers::Bytes(&byte_values)], [&rounded_keys, &rounded_values]),
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
                    // SAFETY: the test owns the output.
                    unsafe { attend_part(level, &cached, &raw mut output[..], 0..cached.items(), &mut scratch) }
                        .unwrap();
                    assert_close(level.name(), &output, &expected, 1e-5);
                }
            }
        }
    }

    #[test]
    fn a_row_gets_the_same_bits_alone_and_beside_others() {
        for ([heads, key_heads], rows, [slots, start], window) in [
            ([4, 2], 8, [90, 71], usize::MAX),
            ([8, 8], 7, [90, 1], usize::MAX),
            ([4, 1], 8, [40, 133], 33),
            ([16, 8], 5, [40, 77], 30),
        ] {
            let width = 24;
            let (query, cache) = (numbers(rows * heads * width, 1), numbers(2 * slots * key_heads * width, 2));
            let (keys, values) = cache.split_at(slots * key_heads * width);
            let attend = |level: Level, first: usize, rows: usize, parts: usize| {
                let row = heads * width;
                let cached = Cached {
                    rows,
                    heads,
                    key_heads,
                    width,
                    slots,
                    start: start + first,
                    last: rows - 1,
                    window,
                    soft_cap: 0.0,
                    scale: 0.2,
                    query: &query[first * row..(first + rows) * row],
                    keys: Numbers::Floats(keys),
                    values: Numbers::Floats(values),
                };
                let (mut output, mut scratch) = (vec![f32::NAN; rows * row], vec![0.0; cached.scratch()]);
                for part in 0..parts {
                    let items = cached.items() * part / parts..cached.items() * (part + 1) / parts;
                    // SAFETY: the test owns the output.
                    unsafe { attend_part(level, &cached, &raw mut output[..], items, &mut scratch) }.unwrap();
                }
                output.into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            for level in Level::available() {
                let alone: Vec<u32> = (0..rows).flat_map(|row| attend(level, row, 1, 1)).collect();
                for parts in [1, 3] {
                    assert!(attend(level, 0, rows, parts) == alone, "{}: {heads} heads, {rows} rows", level.name());
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
        // SAFETY: the test owns the output.
        let refused = unsafe { attend_part(Level::Portable, &cached, &raw mut output[..], 0..1, &mut [0.0; 3]) };
        assert!(refused.is_err());
    }
}

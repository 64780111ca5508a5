//! Attention over a ring-buffer KV cache.
//!
//! Few queries (decode) stream the cache in address order, because decode is bound by memory bandwidth: the outer loop runs
//! over positions and the inner loop over heads, and scratch memory holds the scores of every head in between. The queries
//! share a pass over the cache or take a pass each; the result of a query is bit-identical either way. Many queries
//! (prefill) amortize the packing of keys.
#![allow(unsafe_code)] // Threads write interleaved rows of one output; bounds are checked once for a call.

use core::ops::Range;

use et_core::{Error, Result};
use et_simd::{Float, Level, Simd, Work};

use super::kept::{Kept, Numbers, each_type};
use super::scores::{Bent, exponentials};
use super::{Attention, Causal, Sizes, Slots, run_part};
use crate::check::ensure;

/// Positions per block: the keys or values of a block stay in L1 while the heads that share a KV head read the block.
const BLOCK: usize = 8;
/// Keys per query in the inner loop.
const KEYS: usize = 4;
/// Vectors of an output accumulated at a time.
const VECTORS: usize = 4;

/// The maximum number of queries that stream the cache.
const FEW: usize = 8;
/// The number of parts that few queries are split into, if possible, for the threads to share.
const PARTS: usize = 8;
/// The heads of one KV head that are worth a pass over the cache of their own, where KV heads are fewer than [`PARTS`].
const HEADS: usize = 8;

impl Sizes {
    /// The items of work of [`attend_cache_part`]. Many queries: a head. Few queries: a KV head of the queries that share a
    /// pass over the cache, or some of the heads of the KV head.
    pub fn cache_items(&self) -> usize {
        if self.queries > FEW { self.heads } else { self.passes() * self.key_heads * self.head_parts() }
    }

    /// Scratch elements per thread. Attention to fewer keys needs less.
    pub fn cache_scratch(&self) -> usize {
        if self.queries > FEW {
            return self.scratch();
        }
        self.together().saturating_mul(self.heads).saturating_mul(self.score_row())
    }

    /// Few queries that share a pass over the cache.
    fn together(&self) -> usize {
        (self.queries * self.key_heads / PARTS).clamp(1, self.queries.max(1))
    }

    /// The passes of few queries over the cache.
    fn passes(&self) -> usize {
        self.queries.div_ceil(self.together())
    }

    /// The parts of the heads of a KV head.
    fn head_parts(&self) -> usize {
        let sharing = self.heads / self.key_heads.max(1);
        (PARTS / (self.passes() * self.key_heads).max(1)).clamp(1, sharing.div_ceil(HEADS).max(1))
    }

    /// The first head of a part, of the parts of all KV heads in turn.
    fn first_head(&self, part: usize) -> usize {
        let (sharing, parts) = (self.heads / self.key_heads.max(1), self.head_parts());
        part / parts * sharing + part % parts * sharing / parts
    }

    /// Scratch elements per query and head: a score per key, padded to vectors, and the reciprocal sum.
    const fn score_row(&self) -> usize {
        self.keys.next_multiple_of(16) + 1
    }
}

impl Attention<'_> {
    /// The attention of queries that continue a text: position `p` is in slot `p % slots`, and [`Causal::first`] is the
    /// position of the first query. Fails if the visible positions exceed the slots.
    pub fn in_ring(self) -> Result<Self> {
        let (Some(causal), count) = (self.causal, self.slots.count) else { return Err(Error::InvalidArgument) };
        let end = causal.first.checked_add(causal.last).and_then(|last| last.checked_add(1));
        let end = end.ok_or(Error::InvalidArgument)?;
        let first = causal.seen(0, end).start;
        ensure(causal.last < self.sizes.queries && end - first <= count)?;
        Ok(Self {
            sizes: Sizes { keys: end - first, ..self.sizes },
            causal: Some(Causal { first: causal.first - first, ..causal }),
            slots: Slots { first: first % count, count },
            ..self
        })
    }

    /// Splits the keys visible to `queries` into blocks of at most [`BLOCK`]; yields the visible span of each query and
    /// block.
    #[inline(always)]
    fn spans(&self, queries: Range<usize>) -> impl Iterator<Item = (usize, Span)> {
        let (mut key, end) = (self.seen(queries.start).start, self.seen(queries.end - 1).end);
        let blocks = core::iter::from_fn(move || {
            let slot = (self.slots.first + key) % self.slots.count;
            let count = BLOCK.min(end - key).min(self.slots.count - slot);
            let block = (key, slot, count);
            key += count;
            (count > 0).then_some(block)
        });
        blocks.flat_map(move |(key, slot, count)| {
            queries.clone().filter_map(move |query| {
                let seen = self.seen(query);
                let (first, last) = (key.max(seen.start), (key + count).min(seen.end));
                let span = || Span { slot: slot + first - key, before: first - seen.start, count: last - first };
                (first < last).then(|| (query, span()))
            })
        })
    }
}

/// Computes a range of items of attention without masks, in one batch, that is made by [`Attention::in_ring`].
///
/// # Safety
/// `output` is valid for writes, and no other thread accesses the rows of the items during the call.
#[inline]
pub unsafe fn attend_cache_part(
    level: Level,
    attention: &Attention<'_>,
    output: *mut [f32],
    items: Range<usize>,
    scratch: &mut [f32],
) -> Result<()> {
    let sizes = &attention.sizes;
    if sizes.queries > FEW {
        // SAFETY: the caller upholds the contract of this function.
        return unsafe { run_part(level, attention, output, items, scratch) };
    }
    attention.check(&(0..sizes.items()), output.len())?;
    ensure(items.start <= items.end && items.end <= sizes.cache_items() && scratch.len() >= sizes.cache_scratch())?;
    ensure(sizes.batches == 1 && attention.masks.is_empty() && attention.causal.is_some())?;
    level.run(Attend { attention, output: output.cast(), items, scores: scratch });
    Ok(())
}

struct Attend<'a> {
    attention: &'a Attention<'a>,
    output: *mut f32,
    items: Range<usize>,
    scores: &'a mut [f32],
}

/// A head of a query.
#[derive(Clone, Copy)]
struct Head {
    /// Offset of the query.
    query: usize,
    /// Offset of the output.
    output: usize,
    /// The KV head.
    kv: usize,
    /// Offset of the scores.
    scores: usize,
}

/// Visible keys in contiguous slots.
#[derive(Clone, Copy)]
struct Span {
    /// The first slot.
    slot: usize,
    /// Visible keys before the span.
    before: usize,
    count: usize,
}

impl Work for Attend<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, isa: S) {
        let sizes = self.attention.sizes;
        let (queries, together, parts) = (sizes.queries, sizes.together(), sizes.key_heads * sizes.head_parts());
        let mut item = self.items.start;
        while item < self.items.end {
            let (query, first) = (item / parts * together, item % parts);
            let last = parts.min(first + self.items.end - item);
            let heads = sizes.first_head(first)..sizes.first_head(last);
            self.queries(isa, query..queries.min(query + together), heads);
            item += last - first;
        }
    }
}

impl Attend<'_> {
    /// Computes a range of heads of queries that share a pass over the cache.
    #[inline(always)]
    fn queries<S: Simd>(&mut self, isa: S, queries: Range<usize>, heads: Range<usize>) {
        let attention = self.attention;
        for (query, span) in attention.spans(queries.clone()) {
            each_type!(attention.key.numbers, |keys| self.score(isa, query, heads.clone(), span, keys));
        }
        for (query, head) in queries.clone().flat_map(|query| heads.clone().map(move |head| (query, head))) {
            let (scores, visible) = (self.head(query, head).scores, attention.seen(query));
            let numbers = attention.by_distance(head, query).map(|numbers| numbers.wrapping_add(visible.start));
            let bent = Bent { scale: 1.0, soft_cap: attention.soft_cap, masks: numbers.as_slice() };
            let (count, mut seen) = (visible.len(), attention.before(head));
            let padded = count.next_multiple_of(S::LANES);
            // SAFETY: `check` and the size of the scratch memory leave room for a padded row of scores.
            unsafe { exponentials(isa, self.scores[scores..].as_mut_ptr(), bent, 0..count, padded, &mut seen) };
            self.scores[scores + attention.sizes.score_row() - 1] = 1.0 / seen.sum;
        }
        for (query, span) in attention.spans(queries) {
            each_type!(attention.value.numbers, |values| self.weigh(isa, query, heads.clone(), span, values));
        }
    }

    #[inline(always)]
    fn head(&self, query: usize, head: usize) -> Head {
        let Attention { sizes, query: tokens, output, .. } = self.attention;
        let scores = (query % sizes.together() * sizes.heads + head) * sizes.score_row();
        let (query, output) = (tokens.strides.offset(0, head, query), output.offset(0, head, query));
        Head { query, output, kv: sizes.key_head(head), scores }
    }

    /// The scores of a range of heads for a span. With 32 registers, heads that share a KV head share the loads of keys.
    #[inline(always)]
    fn score<S: Simd, K: Kept>(&mut self, isa: S, query: usize, heads: Range<usize>, span: Span, keys: &[K]) {
        let mut head = heads.start;
        while head < heads.end {
            let (left, tile) = (self.sharing(head, heads.end), [query, head]);
            head += if const { S::REGISTERS >= 32 } && left >= 4 {
                self.products::<S, K, 4>(isa, tile, span, keys)
            } else if const { S::REGISTERS >= 32 } && left >= 2 {
                self.products::<S, K, 2>(isa, tile, span, keys)
            } else {
                self.products::<S, K, 1>(isa, tile, span, keys)
            };
        }
    }

    /// The heads from `head` to `end` that share the KV head.
    #[inline(always)]
    fn sharing(&self, head: usize, end: usize) -> usize {
        let sizes = &self.attention.sizes;
        let sharing = sizes.heads / sizes.key_heads;
        end.min((head / sharing + 1) * sharing) - head
    }

    /// The scores of `M` heads that share a KV head, for a span. Returns `M`.
    #[inline(always)]
    fn products<S: Simd, K: Kept, const M: usize>(
        &mut self,
        isa: S,
        [query, first]: [usize; 2],
        span: Span,
        keys: &[K],
    ) -> usize {
        let heads: [Head; M] = core::array::from_fn(|index| self.head(query, first + index));
        for at in (0..span.count).step_by(KEYS) {
            self.products_at(isa, heads, span, at..span.count.min(at + KEYS), keys);
        }
        M
    }

    /// The scores of heads that share a KV head, for at most [`KEYS`] positions of a span.
    #[inline(always)]
    fn products_at<S: Simd, K: Kept, const M: usize>(
        &mut self,
        isa: S,
        heads: [Head; M],
        span: Span,
        at: Range<usize>,
        keys: &[K],
    ) {
        let Attention { sizes: Sizes { width, .. }, query, key, scale, .. } = *self.attention;
        let place = |index: usize| key.strides.offset(0, heads[0].kv, span.slot + at.start + index);
        let places: [usize; KEYS] = core::array::from_fn(|index| place(if index < at.len() { index } else { 0 }));
        let mut sums = [[isa.splat(0.0); KEYS]; M];
        for step in (0..width).step_by(S::LANES) {
            let left = width - step;
            // SAFETY: queries and keys have `width` elements; `check` validated the lengths, and the offsets are in
            // range.
            unsafe {
                let rows = places.map(|place| K::read_some(isa, keys.as_ptr().add(place + step), left));
                for (sums, head) in sums.iter_mut().zip(&heads) {
                    let number = f32::read_some(isa, query.numbers.as_ptr().add(head.query + step), left);
                    for (sum, row) in sums.iter_mut().zip(rows) {
                        *sum = row.mul_add(number, *sum);
                    }
                }
            }
        }
        for (index, place) in places.into_iter().enumerate().take(at.len()) {
            // SAFETY: as above.
            let of_row = unsafe { K::scale(keys.as_ptr().add(place), width) };
            for (sums, head) in sums.iter().zip(&heads) {
                self.scores[head.scores + span.before + at.start + index] = sums[index].sum() * scale * of_row;
            }
        }
    }

    /// Accumulates weighted values into the outputs of a range of heads; the last span divides by the sum of the
    /// weights.
    #[inline(always)]
    fn weigh<S: Simd, K: Kept>(&self, isa: S, query: usize, heads: Range<usize>, span: Span, values: &[K]) {
        let is_last = span.before + span.count == self.attention.seen(query).len();
        let mut head = heads.start;
        while head < heads.end {
            let (left, tile) = (self.sharing(head, heads.end), ([query, head], is_last));
            head += if const { S::REGISTERS >= 32 } && left >= 4 {
                self.weigh_heads::<S, K, 4>(isa, tile, span, values)
            } else if const { S::REGISTERS >= 32 } && left >= 2 {
                self.weigh_heads::<S, K, 2>(isa, tile, span, values)
            } else {
                self.weigh_heads::<S, K, 1>(isa, tile, span, values)
            };
        }
    }

    /// Accumulates weighted values into the outputs of `M` heads that share a KV head. Returns `M`.
    #[inline(always)]
    fn weigh_heads<S: Simd, K: Kept, const M: usize>(
        &self,
        isa: S,
        ([query, first], is_last): ([usize; 2], bool),
        span: Span,
        values: &[K],
    ) -> usize {
        let heads: [Head; M] = core::array::from_fn(|index| self.head(query, first + index));
        for column in (0..self.attention.sizes.value_width).step_by(VECTORS * S::LANES) {
            self.weigh_columns(isa, (heads, is_last), span, (values, column));
        }
        M
    }

    /// Accumulates weighted values into a range of columns of the outputs of heads that share a KV head.
    #[inline(always)]
    fn weigh_columns<S: Simd, K: Kept, const M: usize>(
        &self,
        isa: S,
        (heads, is_last): ([Head; M], bool),
        span: Span,
        (values, column): (&[K], usize),
    ) {
        let Attention { sizes: Sizes { value_width, .. }, value: tokens, value_row, .. } = *self.attention;
        let columns = (value_width - column).min(VECTORS * S::LANES);
        let results = heads.map(|head| self.output.wrapping_add(head.output + column));
        let mut sums = [[isa.splat(0.0); VECTORS]; M];
        // SAFETY: outputs and values have `value_width` elements, of which `columns` remain; `check` validated the lengths.
        unsafe {
            if span.before > 0 {
                sums = results.map(|result| vectors(isa, result.cast_const(), columns));
            }
            for at in 0..span.count {
                let value = values.as_ptr().add(tokens.strides.offset(0, heads[0].kv, span.slot + at));
                let (scale, row) = (K::scale(value, value_row), vectors(isa, value.add(column), columns));
                for (sums, head) in sums.iter_mut().zip(&heads) {
                    let weight = isa.splat(self.scores[head.scores + span.before + at] * scale);
                    for (sum, value) in sums.iter_mut().zip(row) {
                        *sum = value.mul_add(weight, *sum);
                    }
                }
            }
            for ((sums, head), result) in sums.iter().zip(&heads).zip(results) {
                let score_row = self.attention.sizes.score_row();
                let factor = if is_last { self.scores[head.scores + score_row - 1] } else { 1.0 };
                for (vector, sum) in sums.iter().enumerate() {
                    let start = vector * S::LANES;
                    if start < columns {
                        isa.write_some(result.add(start), columns - start, *sum * isa.splat(factor));
                    }
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

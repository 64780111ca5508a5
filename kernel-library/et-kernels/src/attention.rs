//! Attention without materializing the scores: `softmax(query x key^T * scale + masks) x value`.
//!
//! A block of keys is packed and multiplied with tiles of queries in turn; the accumulators are rescaled when a later
//! block has a larger maximum score: "FlashAttention: Fast and Memory-Efficient Exact Attention" (Dao et al., 2022).

mod cached;
mod kept;
mod run;
mod scores;
#[cfg(test)]
mod test;
mod values;

use core::ops::Range;

use et_core::Result;

use crate::check::ensure;
pub use cached::attend_cache_part;
pub use kept::Numbers;
pub use run::{run, run_part};
use scores::Seen;

/// The sizes of attention. An item is a head of a batch; items are numbered batch by batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Batches, such as images or attention windows.
    pub batches: usize,
    /// Query heads.
    pub heads: usize,
    /// KV heads, a divisor of [`Self::heads`]: neighbouring query heads share a KV head (grouped-query attention).
    pub key_heads: usize,
    /// Query tokens.
    pub queries: usize,
    /// Key tokens.
    pub keys: usize,
    /// Elements of a query and a key (head dimension).
    pub width: usize,
    /// Elements of a value.
    pub value_width: usize,
}

/// The operands of attention.
#[derive(Clone, Copy, Debug)]
pub struct Attention<'a> {
    /// The sizes.
    pub sizes: Sizes,
    /// The scale of the query-key products.
    pub scale: f32,
    /// Soft-capping: `tanh(score / soft_cap) * soft_cap` before the masks are added; 0 disables soft-capping.
    pub soft_cap: f32,
    /// Causal masking; `None` attends to every key.
    pub causal: Option<Causal>,
    /// The ring-buffer position of the keys.
    pub slots: Slots,
    /// The queries.
    pub query: Tokens<&'a [f32]>,
    /// The keys.
    pub key: Tokens<Numbers<'a>>,
    /// The values.
    pub value: Tokens<Numbers<'a>>,
    /// Elements of a stored value, of which the first [`Sizes::value_width`] count: values may be the beginnings of keys.
    pub value_row: usize,
    /// Additive attention masks. Negative infinity hides a key; a query without a visible key outputs zeros.
    pub masks: &'a [Mask<'a>],
    /// Numbers that are added to scores by the distance of query and key, where queries are causal and see no later keys.
    pub distances: Option<Distances<'a>>,
    /// The score of each head for a key without a value, which takes a share of the weights: attention sinks (Xiao et al. 2024).
    pub sinks: Option<&'a [f32]>,
    /// The layout of the output tokens.
    pub output: Strides,
}

/// Causal masking for queries that continue a sequence, with an optional sliding window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Causal {
    /// The last key visible to the first query.
    pub first: usize,
    /// The last query that is a real token; padding queries after this index see the same keys.
    pub last: usize,
    /// Sliding window: the maximum number of keys up to a query's own that are visible to the query.
    pub window: usize,
    /// Whether a query sees the keys of later queries too, up to the last.
    pub is_mutual: bool,
}

/// A ring buffer: key `i` is stored in slot `(first + i) % count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// The slot of the first key.
    pub first: usize,
    /// The number of slots.
    pub count: usize,
}

/// Strides in stored elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strides {
    /// Batch stride.
    pub batch: usize,
    /// Head stride.
    pub head: usize,
    /// Token stride.
    pub token: usize,
}

/// Rows of elements, one per token of each head and batch.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<N> {
    /// The elements.
    pub numbers: N,
    /// The layout.
    pub strides: Strides,
}

/// An additive mask: a row per query, with an element per key. A stride of 0 broadcasts.
#[derive(Clone, Copy, Debug)]
pub struct Mask<'a> {
    /// The elements.
    pub numbers: &'a [f32],
    /// The layout; the token stride is per query.
    pub strides: Strides,
}

/// Additive numbers by the distance of query and key: a row per head, whose last element is for a query's own key, the element ahead for the
/// key ahead, and so on.
#[derive(Clone, Copy, Debug)]
pub struct Distances<'a> {
    /// The elements.
    pub numbers: &'a [f32],
    /// The elements of a row.
    pub count: usize,
}

impl Distances<'_> {
    /// The numbers of a head from key 0 on, for the query whose own key is `own`, which is below [`Self::count`].
    #[inline(always)]
    fn row(self, head: usize, own: usize) -> *const f32 {
        self.numbers.as_ptr().wrapping_add((head + 1) * self.count - 1 - own)
    }
}

impl Sizes {
    /// The number of items. Disjoint items have disjoint outputs.
    pub const fn items(&self) -> usize {
        self.batches.saturating_mul(self.heads)
    }

    /// The KV head of a query head.
    #[inline(always)]
    const fn key_head(&self, head: usize) -> usize {
        head / (self.heads / self.key_heads)
    }

    /// Whether rows of `width` elements end within `length` for every batch, head and token.
    fn reaches(&self, strides: Strides, [heads, tokens, width]: [usize; 3], length: usize) -> bool {
        if self.batches == 0 || heads == 0 || tokens == 0 {
            return true;
        }
        let places = [(self.batches, strides.batch), (heads, strides.head), (tokens, strides.token)];
        let steps = places.iter().try_fold(width, |end, (count, stride)| {
            (count - 1).checked_mul(*stride).and_then(|distance| distance.checked_add(end))
        });
        steps.is_some_and(|end| end <= length)
    }
}

impl Attention<'_> {
    /// The keys visible to a query, at least one key.
    #[inline(always)]
    fn seen(&self, query: usize) -> Range<usize> {
        self.causal.map_or(0..self.sizes.keys, |causal| causal.seen(query, self.sizes.keys))
    }

    /// Fails unless operands and output cover the items.
    fn check(&self, items: &Range<usize>, output: usize) -> Result<()> {
        let (sizes, slots) = (&self.sizes, self.slots);
        let Sizes { heads, key_heads, queries, keys, width, value_width, .. } = *sizes;
        ensure(key_heads > 0 && heads.is_multiple_of(key_heads) && keys > 0 && width > 0)?;
        ensure(keys <= slots.count && slots.first < slots.count)?;
        ensure(self.causal.is_none_or(|causal| causal.is_within(queries, keys)))?;
        ensure(items.start <= items.end && items.end <= sizes.items())?;
        ensure(sizes.reaches(self.query.strides, [heads, queries, width], self.query.numbers.len()))?;
        ensure(value_width <= self.value_row)?;
        for (tokens, width) in [(&self.key, width), (&self.value, self.value_row)] {
            let stored = [key_heads, slots.count, tokens.numbers.row(width)];
            ensure(sizes.reaches(tokens.strides, stored, tokens.numbers.len()))?;
        }
        ensure(sizes.reaches(self.output, [heads, queries, value_width], output))?;
        let fits = |mask: &Mask| sizes.reaches(mask.strides, [heads, queries, keys], mask.numbers.len());
        ensure(self.masks.iter().all(fits) && self.sinks.is_none_or(|sinks| sinks.len() == heads))?;
        ensure(self.distances.is_none_or(|distances| self.has_numbers(distances)))
    }

    /// Whether each head has a number for each distance.
    fn has_numbers(&self, distances: Distances<'_>) -> bool {
        let Sizes { heads, queries, keys, .. } = self.sizes;
        let causal = self.causal.filter(|causal| !causal.is_mutual);
        let reaches =
            |causal: Causal| keys.max(causal.own(queries.saturating_sub(1)).saturating_add(1)) <= distances.count;
        causal.is_some_and(reaches) && heads.checked_mul(distances.count) == Some(distances.numbers.len())
    }

    /// The softmax state of a head's queries ahead of the first key.
    #[inline(always)]
    fn before(&self, head: usize) -> Seen {
        self.sinks.map_or(Seen::NOTHING, |sinks| Seen { greatest: sinks[head], sum: 1.0 })
    }

    /// The numbers of a head by the distance of a query and key 0 on, if any.
    #[inline(always)]
    fn by_distance(&self, head: usize, query: usize) -> Option<*const f32> {
        let (distances, causal) = self.distances.zip(self.causal)?;
        Some(distances.row(head, causal.own(query)))
    }
}

impl Causal {
    /// Plain causal masking: query `i` sees the keys up to `first + i`.
    pub const fn from(first: usize) -> Self {
        Self { first, last: usize::MAX, window: usize::MAX, is_mutual: false }
    }

    /// The key of a query itself.
    #[inline(always)]
    fn own(self, query: usize) -> usize {
        query.min(self.last).saturating_add(self.first)
    }

    #[inline(always)]
    fn seen(self, query: usize, keys: usize) -> Range<usize> {
        let own = self.own(query).saturating_add(1);
        let end = if self.is_mutual { self.last.saturating_add(self.first).saturating_add(1) } else { own };
        own.saturating_sub(self.window)..end.min(keys)
    }

    /// Whether the last query, and therefore every query, sees a key.
    fn is_within(self, queries: usize, keys: usize) -> bool {
        queries == 0 || !self.seen(queries - 1, keys).is_empty()
    }
}

impl Slots {
    /// Keys in slot order, without wrap-around.
    pub const fn of(keys: usize) -> Self {
        Self { first: 0, count: keys }
    }
}

impl Strides {
    /// The offset of a token of an item.
    #[inline(always)]
    fn offset(self, batch: usize, head: usize, token: usize) -> usize {
        batch * self.batch + head * self.head + token * self.token
    }
}

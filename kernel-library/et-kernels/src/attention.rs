//! Attention without the matrix of scores: `softmax(query x key^T * scale + masks) x value`.
//!
//! A block of keys is packed, tiles of queries meet it one after the other, and what they take from it is corrected when a
//! later block has a greater score: "FlashAttention: Fast and Memory-Efficient Exact Attention" (Dao et al., 2022).

pub mod cached;
mod kept;
mod pack;
mod run;
mod scores;
#[cfg(test)]
mod test;
mod values;

use core::ops::Range;

use et_core::Result;

use crate::check::ensure;
pub use kept::Numbers;
pub use run::{run, run_part, scratch};

/// What attends to what. An item is a head of a batch; items are numbered batch by batch.
#[derive(Clone, Copy, Debug)]
pub struct Attention<'a> {
    /// Independent groups of heads, such as images or windows.
    pub batches: usize,
    /// The heads of the queries.
    pub heads: usize,
    /// The heads of keys and values, of which [`Self::heads`] is a multiple: neighbouring heads share them.
    pub key_heads: usize,
    /// The tokens that attend.
    pub queries: usize,
    /// The tokens that are attended to.
    pub keys: usize,
    /// The numbers of a query, and of a key.
    pub width: usize,
    /// The numbers of a value.
    pub value_width: usize,
    /// What products of queries and keys are multiplied by.
    pub scale: f32,
    /// Scores are `tanh(score / soft_cap) * soft_cap` before masks are added, unless it is 0.
    pub soft_cap: f32,
    /// Which keys queries attend to, if not to all.
    pub causal: Option<Causal>,
    /// In which tokens of keys and values the keys are.
    pub slots: Slots,
    /// What attends.
    pub query: Tokens<&'a [f32]>,
    /// What is compared with the queries.
    pub key: Tokens<Numbers<'a>>,
    /// What is summed.
    pub value: Tokens<Numbers<'a>>,
    /// What is added to scores. Negative infinity hides a key; a query that sees none results in zeros.
    pub masks: &'a [Mask<'a>],
    /// Where the results of tokens are.
    pub output: Strides,
}

/// Queries that continue a text attend to what is before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Causal {
    /// The key that the first query sees last.
    pub first: usize,
    /// The last query that is a token; those behind it see what it sees.
    pub last: usize,
    /// How many keys a query sees at most.
    pub window: usize,
}

/// Keys are written around the end of a memory: key `i` is token `(first + i) % count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// The token of the first key.
    pub first: usize,
    /// The tokens that there are.
    pub count: usize,
}

/// Where tokens are, in elements of what they are stored as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strides {
    /// From a batch to the next.
    pub batch: usize,
    /// From a head to the next.
    pub head: usize,
    /// From a token to the next.
    pub token: usize,
}

/// Rows of numbers, one for each token of each head of each batch.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<N> {
    /// All of them.
    pub numbers: N,
    /// Where they are.
    pub strides: Strides,
}

/// A row of addends for each query, one for each key. A stride of 0 repeats rows.
#[derive(Clone, Copy, Debug)]
pub struct Mask<'a> {
    /// All rows.
    pub numbers: &'a [f32],
    /// Where they are; a token is a query.
    pub strides: Strides,
}

/// A share of the work. Disjoint shares write disjoint numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Heads of batches.
    pub items: Range<usize>,
    /// The queries of each.
    pub queries: Range<usize>,
}

impl Attention<'_> {
    /// All of the work.
    pub fn whole(&self) -> Part {
        Part { items: 0..self.batches.saturating_mul(self.heads), queries: 0..self.queries }
    }

    /// The keys that a query sees: at least one.
    #[inline(always)]
    fn seen(&self, query: usize) -> Range<usize> {
        self.causal.map_or(0..self.keys, |causal| causal.seen(query, self.keys))
    }

    /// An error unless all that a part reads and writes is there.
    fn check(&self, part: &Part, output: usize) -> Result<()> {
        ensure(self.key_heads > 0 && self.heads.is_multiple_of(self.key_heads) && self.keys > 0 && self.width > 0)?;
        let whole = self.whole();
        ensure(self.keys <= self.slots.count && self.slots.first < self.slots.count)?;
        ensure(self.causal.is_none_or(|causal| causal.is_within(self.queries, self.keys)))?;
        ensure(part.items.end <= whole.items.end && part.queries.end <= whole.queries.end)?;
        ensure(part.items.start <= part.items.end && part.queries.start <= part.queries.end)?;
        ensure(self.reaches(self.query.strides, self.heads, self.queries, self.width, self.query.numbers.len()))?;
        ensure(self.reaches(
            self.key.strides,
            self.key_heads,
            self.slots.count,
            self.key.numbers.row(self.width),
            self.key.numbers.len(),
        ))?;
        ensure(self.reaches(
            self.value.strides,
            self.key_heads,
            self.slots.count,
            self.value.numbers.row(self.value_width),
            self.value.numbers.len(),
        ))?;
        ensure(self.reaches(self.output, self.heads, self.queries, self.value_width, output))?;
        let fits = |mask: &Mask| self.reaches(mask.strides, self.heads, self.queries, self.keys, mask.numbers.len());
        ensure(self.masks.iter().all(fits))
    }

    /// Whether rows of `width` numbers at all places end within `length`.
    fn reaches(&self, strides: Strides, heads: usize, tokens: usize, width: usize, length: usize) -> bool {
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

impl Causal {
    /// Nothing but what is later is hidden: query `i` sees the keys up to `first + i`.
    pub const fn from(first: usize) -> Self {
        Self { first, last: usize::MAX, window: usize::MAX }
    }

    #[inline(always)]
    fn seen(self, query: usize, keys: usize) -> Range<usize> {
        let end = query.min(self.last).saturating_add(self.first).saturating_add(1);
        end.saturating_sub(self.window)..end.min(keys)
    }

    /// Whether the last query sees a key, so that all do.
    fn is_within(self, queries: usize, keys: usize) -> bool {
        queries == 0 || !self.seen(queries - 1, keys).is_empty()
    }
}

impl Slots {
    /// Keys lie one after the other.
    pub const fn of(keys: usize) -> Self {
        Self { first: 0, count: keys }
    }
}

impl Strides {
    /// Where a token of an item is.
    #[inline(always)]
    fn offset(self, batch: usize, head: usize, token: usize) -> usize {
        batch * self.batch + head * self.head + token * self.token
    }
}

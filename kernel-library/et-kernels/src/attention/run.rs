//! The FlashAttention loop: blocks of keys outside, tiles of queries inside.
#![allow(unsafe_code)] // Threads write interleaved rows of one output; bounds are checked once for a call.

use core::ops::Range;

use et_core::Result;
use et_simd::{Level, Simd, Work};

use super::kept::{Numbers, each_type, pack_keys, pack_values};
use super::scores::{Bent, Queries, Seen, exponentials, products};
use super::values::{Sums, Values, weigh};
use super::{Attention, Sizes, Strides};
use crate::check::ensure;

/// Queries per tile: 6 x 4 accumulator vectors fit 32 registers, 6 x 2 fit 16.
const TILE: usize = 6;
/// Elements per block of keys. Keys and values of a block stay in L2.
const BLOCK: usize = 16 * 1024;
/// The maximum number of masks.
const MOST_MASKS: usize = 4;
/// Spare scratch elements for the alignment to a cache line.
const ALIGNMENT: usize = 16;

/// The maximum number of keys per block: a multiple of 16.
fn most_keys(width: usize) -> usize {
    (BLOCK / width.max(1)).clamp(64, 256) / 16 * 16
}

impl Sizes {
    /// Keys per block, rounded up to panels.
    fn block(&self) -> usize {
        self.keys.min(most_keys(self.width)).next_multiple_of(16)
    }

    /// The scratch memory that [`run_part`] needs, in elements.
    pub fn scratch(&self) -> usize {
        let block = self.block();
        let values = block * self.value_width.next_multiple_of(16);
        ALIGNMENT + block * self.width + values + TILE * block + 2 * self.queries
    }
}

/// Computes the whole work.
#[inline]
pub fn run(level: Level, attention: &Attention, output: &mut [f32], scratch: &mut [f32]) -> Result<()> {
    // SAFETY: the exclusive borrow of the output excludes other accesses.
    unsafe { run_part(level, attention, output, 0..attention.sizes.items(), scratch) }
}

/// Computes a range of items. Writes only the rows of their tokens, without reading earlier contents of the
/// output.
///
/// # Safety
/// `output` is valid for writes, and no other thread accesses the rows of the items' tokens during the call.
#[inline]
pub unsafe fn run_part(
    level: Level,
    attention: &Attention,
    output: *mut [f32],
    items: Range<usize>,
    scratch: &mut [f32],
) -> Result<()> {
    attention.check(&items, output.len())?;
    ensure(scratch.len() >= attention.sizes.scratch() && attention.masks.len() <= MOST_MASKS)?;
    let skip = scratch.as_ptr().align_offset(64).min(ALIGNMENT);
    level.run(Run { attention, items, output: output.cast(), scratch: scratch[skip..].as_mut_ptr() });
    Ok(())
}

struct Run<'a> {
    attention: &'a Attention<'a>,
    items: Range<usize>,
    output: *mut f32,
    scratch: *mut f32,
}

/// A block of keys of an item, in contiguous slots.
#[derive(Clone, Copy)]
struct Block {
    /// Pointer to the first key's column of each mask, and the row stride.
    masks: [(*const f32, usize); MOST_MASKS],
    batch: usize,
    head: usize,
    first: usize,
    count: usize,
    slot: usize,
}

impl Block {
    /// The part of a key range within the block, relative to the block.
    #[inline(always)]
    fn part(&self, keys: Range<usize>) -> Range<usize> {
        keys.start.saturating_sub(self.first).min(self.count)..keys.end.saturating_sub(self.first).min(self.count)
    }
}

/// A tile of queries.
#[derive(Clone)]
struct Tile {
    query: usize,
    count: usize,
    /// The keys visible to at least one query of the tile.
    seen: Range<usize>,
}

/// The parts of the scratch memory.
#[derive(Clone, Copy)]
struct Places {
    keys: *mut f32,
    values: *mut f32,
    scores: *mut f32,
    seen: *mut Seen,
    row: usize,
}

impl Work for Run<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        let attention = self.attention;
        let places = self.places();
        for item in self.items.clone() {
            let Sizes { heads, keys, width, .. } = attention.sizes;
            let (batch, head) = (item / heads, item % heads);
            let (most, slots) = (most_keys(width), attention.slots);
            let mut first = 0;
            while first < keys {
                let (masks, slot) = (self.masks(batch, head, first), (slots.first + first) % slots.count);
                let count = most.min(keys - first).min(slots.count - slot);
                self.block(isa, places, Block { masks, batch, head, first, count, slot });
                first += count;
            }
        }
    }
}

impl Run<'_> {
    #[inline(always)]
    fn places(&self) -> Places {
        let sizes = &self.attention.sizes;
        let row = sizes.block();
        // SAFETY: `run_part` checked the size of the scratch memory; the alignment of `f32` suffices for `Seen`.
        unsafe {
            let values = self.scratch.add(row * sizes.width);
            let scores = values.add(row * sizes.value_width.next_multiple_of(16));
            Places { keys: self.scratch, values, scores, seen: scores.add(TILE * row).cast(), row }
        }
    }

    /// Multiplies every query with a block of keys.
    #[inline(always)]
    fn block<S: Simd>(&self, isa: S, places: Places, block: Block) {
        self.pack(isa, places, block);
        let (mut query, queries) = (0, self.attention.sizes.queries);
        while query < queries {
            let tile = self.tile_of(query..queries.min(query + TILE));
            query += tile.count;
            if block.part(tile.seen.clone()).is_empty() {
                continue;
            }
            // A partial tile recomputes rows, except for a single query, which has a kernel without waste.
            if tile.count == 1 {
                self.tile::<S, 1>(isa, places, block, &tile);
            } else {
                self.tile::<S, TILE>(isa, places, block, &tile);
            }
        }
    }

    /// Visible ranges start and end monotonically over the queries.
    #[inline(always)]
    fn tile_of(&self, queries: Range<usize>) -> Tile {
        let seen = self.attention.seen(queries.start).start..self.attention.seen(queries.end - 1).end;
        Tile { query: queries.start, count: queries.len(), seen }
    }

    /// Pointers to the masks of an item, from key `first` on.
    #[inline(always)]
    fn masks(&self, batch: usize, head: usize, first: usize) -> [(*const f32, usize); MOST_MASKS] {
        let mut masks = [(core::ptr::null(), 0); MOST_MASKS];
        for (place, mask) in masks.iter_mut().zip(self.attention.masks) {
            let offset = mask.strides.offset(batch, head, 0) + first;
            *place = (mask.numbers.as_ptr().wrapping_add(offset), mask.strides.token);
        }
        masks
    }

    /// Packs the keys and values of a block.
    #[inline(always)]
    fn pack<S: Simd>(&self, isa: S, places: Places, block: Block) {
        let Attention { key, value, value_row, sizes, .. } = *self.attention;
        let key_head = sizes.key_head(block.head);
        let start = |strides: Strides| strides.offset(block.batch, key_head, block.slot);
        let Places { keys, values, .. } = places;
        // SAFETY: `check` validated strides against the storage, and the scratch memory has room for a block.
        unsafe {
            each_type!(key.numbers, |all| {
                let from = all.as_ptr().add(start(key.strides));
                pack_keys(isa, from, key.strides.token, block.count, sizes.width, keys);
            });
            each_type!(value.numbers, |all| {
                let from = all.as_ptr().add(start(value.strides));
                pack_values(isa, from, value.strides.token, block.count, sizes.value_width, value_row, values);
            });
        }
    }

    /// Multiplies a tile of queries with a block of keys.
    #[inline(always)]
    fn tile<S: Simd, const M: usize>(&self, isa: S, places: Places, block: Block, tile: &Tile) {
        let Attention { sizes: Sizes { width, .. }, query: tokens, .. } = *self.attention;
        let &Tile { query, count, .. } = tile;
        let offset = tokens.strides.offset(block.batch, block.head, query);
        let padded = block.count.next_multiple_of(S::LANES);
        let (mut before, mut after) = ([0.0; M], [1.0; M]);
        // SAFETY: `check` validated strides against the storage, and the scratch memory has room for a tile and a
        // block.
        unsafe {
            let from = tokens.numbers.as_ptr().add(offset);
            let queries = Queries { from, step: tokens.strides.token, count, width };
            products::<S, M>(isa, queries, places.keys, padded / S::LANES, places.scores, places.row);
            for row in 0..count {
                let seen = places.seen.add(query + row);
                if block.first <= tile.seen.start {
                    seen.write(self.attention.before(block.head));
                }
                before[row] =
                    self.exponentials(isa, places.scores.add(row * places.row), block, query + row, &mut *seen);
                if block.first + block.count >= tile.seen.end {
                    after[row] = if (*seen).sum == 0.0 { 0.0 } else { 1.0 / (*seen).sum };
                }
            }
            self.values::<S, M>(isa, places, block, tile, before, after);
        }
    }

    /// Replaces the scores of a query by exponentials. Returns the rescaling factor for the query's accumulators.
    ///
    /// # Safety
    /// `scores` has a row of scores.
    #[inline(always)]
    unsafe fn exponentials<S: Simd>(
        &self,
        isa: S,
        scores: *mut f32,
        block: Block,
        query: usize,
        seen: &mut Seen,
    ) -> f32 {
        let mut masks = [core::ptr::null(); MOST_MASKS + 1];
        for (row, (first, step)) in masks.iter_mut().zip(block.masks) {
            *row = first.wrapping_add(query * step);
        }
        let mut count = self.attention.masks.len().min(MOST_MASKS);
        if let Some(numbers) = self.attention.by_distance(block.head, query) {
            masks[count] = numbers.wrapping_add(block.first);
            count += 1;
        }
        let masks = &masks[..count];
        let Attention { scale, soft_cap, .. } = *self.attention;
        let bent = Bent { scale, soft_cap, masks };
        let visible = block.part(self.attention.seen(query));
        // SAFETY: the row has room for a full block.
        unsafe { exponentials(isa, scores, bent, visible, block.count.next_multiple_of(S::LANES), seen) }
    }

    /// Accumulates the weighted values of the block.
    ///
    /// # Safety
    /// The scratch memory holds the exponentials of the tile.
    #[inline(always)]
    unsafe fn values<S: Simd, const M: usize>(
        &self,
        isa: S,
        places: Places,
        block: Block,
        tile: &Tile,
        before: [f32; M],
        after: [f32; M],
    ) {
        let Attention { sizes: Sizes { value_width, .. }, output, .. } = *self.attention;
        let to = output.offset(block.batch, block.head, tile.query);
        // SAFETY: `check` validated strides against storage and output.
        unsafe {
            let values = Values { from: places.values, count: block.count, width: value_width };
            let later = block.first > tile.seen.start;
            let sums = Sums { to: self.output.add(to), step: output.token, count: tile.count, later };
            weigh::<S, M>(isa, places.scores, places.row, values, sums, before, after);
        }
    }
}

//! Scores of a tile of queries against a block of keys, and the softmax exponentials.
#![allow(unsafe_code)] // Tiles are read through pointers, whose bounds are checked once for a call.

use core::ops::Range;

use et_simd::{Float, Simd, math};

/// A tile of queries.
#[derive(Clone, Copy)]
pub struct Queries {
    /// The first query.
    pub from: *const f32,
    /// Query stride in elements.
    pub step: usize,
    /// The number of queries, at least 1. Partial tiles repeat the last query.
    pub count: usize,
    /// Elements of a query and a key.
    pub width: usize,
}

/// Multiplies `M` queries with `panels` packed panels of keys; score rows are `row` elements apart.
///
/// # Safety
/// `queries` are valid, `keys` has `panels` packed panels, and `to` has room for `M` rows of scores.
#[inline(always)]
pub unsafe fn products<S: Simd, const M: usize>(
    isa: S,
    queries: Queries,
    keys: *const f32,
    panels: usize,
    to: *mut f32,
    row: usize,
) {
    let mut panel = 0;
    macro_rules! tiles {
        ($count:literal) => {
            while panels - panel >= $count {
                let (keys, to) = (keys.add(panel * queries.width * S::LANES), to.add(panel * S::LANES));
                tile::<S, M, $count>(isa, queries, keys, to, row);
                panel += $count;
            }
        };
    }
    // SAFETY: the tile ends at the last panel.
    unsafe {
        if const { S::REGISTERS >= 32 } {
            tiles!(4);
        }
        tiles!(2);
        tiles!(1);
    }
}

/// # Safety
/// As for [`products`], for `N` panels.
#[inline(always)]
unsafe fn tile<S: Simd, const M: usize, const N: usize>(
    isa: S,
    queries: Queries,
    keys: *const f32,
    to: *mut f32,
    row: usize,
) {
    let mut sums = [[isa.splat(0.0); N]; M];
    // SAFETY: the index is clamped to the last query.
    let rows: [_; M] = core::array::from_fn(
        #[inline(always)]
        |query| unsafe { queries.from.add(query.min(queries.count - 1) * queries.step) },
    );
    for at in 0..queries.width {
        // SAFETY: each panel has `width` vectors, and each query `width` elements.
        unsafe {
            let mut vectors = [isa.splat(0.0); N];
            for (panel, vector) in vectors.iter_mut().enumerate() {
                *vector = isa.read(keys.add((panel * queries.width + at) * S::LANES));
            }
            for (row, sums) in rows.iter().zip(&mut sums) {
                let number = isa.splat(*row.add(at));
                for (sum, vector) in sums.iter_mut().zip(vectors) {
                    *sum = number.mul_add(vector, *sum);
                }
            }
        }
    }
    for (query, sums) in sums.iter().enumerate() {
        for (panel, sum) in sums.iter().enumerate() {
            // SAFETY: the row has room for the panels.
            unsafe { isa.write(to.add(query * row + panel * S::LANES), *sum) };
        }
    }
}

/// The online softmax state of a query.
#[derive(Clone, Copy)]
pub struct Seen {
    /// The maximum score.
    pub greatest: f32,
    /// The sum of `exp(score - greatest)`.
    pub sum: f32,
}

impl Seen {
    /// The state before the first block.
    pub const NOTHING: Self = Self { greatest: f32::NEG_INFINITY, sum: 0.0 };
}

/// The transformation of query-key products to scores: `soft_cap(product * scale) + masks`.
#[derive(Clone, Copy)]
pub struct Bent<'a> {
    /// The scale of the products.
    pub scale: f32,
    /// The soft-capping bound; 0 disables soft-capping.
    pub soft_cap: f32,
    /// The additive mask rows.
    pub masks: &'a [*const f32],
}

impl Bent<'_> {
    /// The scores of a vector of keys from `at` on, of which the first `count` are within the masks.
    ///
    /// # Safety
    /// `products` has a vector, and each mask has `at + count` elements.
    #[inline(always)]
    unsafe fn scores<S: Simd>(&self, isa: S, products: *const f32, at: usize, count: usize) -> S::F32 {
        // SAFETY: the caller upholds the contract of this function.
        unsafe {
            let mut score = isa.read(products) * isa.splat(self.scale);
            if self.soft_cap > 0.0 {
                score = math::tanh(isa, score * isa.splat(1.0 / self.soft_cap)) * isa.splat(self.soft_cap);
            }
            for mask in self.masks {
                let mask = mask.add(at);
                score = score + isa.read_some(mask, count);
            }
            score
        }
    }

    /// Like [`Self::scores`] with hidden lanes: lanes outside `lanes` become negative infinity.
    ///
    /// # Safety
    /// As for [`Self::scores`], with `count` = `lanes.end`.
    #[inline(always)]
    unsafe fn shown<S: Simd>(&self, isa: S, products: *const f32, at: usize, lanes: Range<usize>) -> S::F32 {
        let hidden = isa.splat(f32::NEG_INFINITY);
        if lanes.is_empty() {
            return hidden;
        }
        // SAFETY: the caller upholds the contract of this function.
        let score = unsafe { self.scores(isa, products, at, lanes.end) };
        let score = score.select(crate::rows::first(isa, lanes.end), hidden);
        hidden.select(crate::rows::first(isa, lanes.start), score)
    }
}

/// Replaces a row of query-key products by softmax exponentials: keys outside `visible` become 0. Updates the online
/// softmax state of the query and returns the rescaling factor for the query's accumulators.
///
/// # Safety
/// `scores` has `padded` elements, a multiple of [`Simd::LANES`], and each mask at least `visible.end` elements.
#[inline(always)]
pub unsafe fn exponentials<S: Simd>(
    isa: S,
    scores: *mut f32,
    bent: Bent<'_>,
    visible: Range<usize>,
    padded: usize,
    seen: &mut Seen,
) -> f32 {
    let hidden = isa.splat(f32::NEG_INFINITY);
    let mut greatest = hidden;
    for at in (0..padded).step_by(S::LANES) {
        let is_whole = visible.start <= at && at + S::LANES <= visible.end;
        // SAFETY: vectors are below `padded`, and full vectors are visible.
        unsafe {
            let score = if is_whole {
                bent.scores(isa, scores.add(at), at, S::LANES)
            } else {
                let shown = visible.start.saturating_sub(at)..visible.end.saturating_sub(at).min(S::LANES);
                bent.shown(isa, scores.add(at), at, shown)
            };
            isa.write(scores.add(at), score);
            greatest = score.max(greatest);
        }
    }
    let greatest = f32::max(seen.greatest, greatest.greatest());
    // If every key is hidden, the base 0 makes each exponential 0 instead of NaN.
    let base = if greatest == f32::NEG_INFINITY { 0.0 } else { greatest };
    let mut sums = isa.splat(0.0);
    for at in (0..padded).step_by(S::LANES) {
        // SAFETY: vectors are below `padded`.
        unsafe {
            let exponential = math::exp(isa, isa.read(scores.add(at)) - isa.splat(base));
            isa.write(scores.add(at), exponential);
            sums = sums + exponential;
        }
    }
    // Before the first visible key, the accumulators are undefined, so that the factor is 0.
    let factor = if seen.sum == 0.0 { 0.0 } else { math::exp(isa, isa.splat(seen.greatest - base)).greatest() };
    *seen = Seen { greatest, sum: seen.sum * factor + sums.sum() };
    factor
}

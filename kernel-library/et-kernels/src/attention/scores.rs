//! Scores of a tile of queries against a block of keys, and their exponentials.
#![allow(unsafe_code)] // Tiles are read through pointers, whose bounds are checked once for a call.

use core::ops::Range;

use et_simd::{Float, Isa, math};

/// A tile of queries.
#[derive(Clone, Copy)]
pub struct Queries {
    /// The first.
    pub from: *const f32,
    /// From one to the next.
    pub step: usize,
    /// How many there are, at least 1. Tiles repeat the last one.
    pub count: usize,
    /// The numbers of each, and of each key.
    pub width: usize,
}

/// Products of `M` queries and all panels, rows of `row` numbers.
///
/// # Safety
/// There are the queries, `panels` packed panels of keys, and `M` rows of scores for all of them.
#[inline(always)]
pub unsafe fn products<S: Isa, const M: usize>(
    isa: S,
    queries: Queries,
    keys: *const f32,
    panels: usize,
    to: *mut f32,
    row: usize,
) {
    let mut panel = 0;
    // SAFETY: no tile goes beyond the last panel.
    unsafe {
        if S::REGISTERS >= 32 {
            while panel + 4 <= panels {
                tile::<S, M, 4>(
                    isa,
                    queries,
                    keys.add(panel * queries.width * S::LANES),
                    to.add(panel * S::LANES),
                    row,
                );
                panel += 4;
            }
        }
        while panel + 2 <= panels {
            tile::<S, M, 2>(isa, queries, keys.add(panel * queries.width * S::LANES), to.add(panel * S::LANES), row);
            panel += 2;
        }
        if panel < panels {
            tile::<S, M, 1>(isa, queries, keys.add(panel * queries.width * S::LANES), to.add(panel * S::LANES), row);
        }
    }
}

/// # Safety
/// As for [`products`], of `N` panels.
#[inline(always)]
unsafe fn tile<S: Isa, const M: usize, const N: usize>(
    isa: S,
    queries: Queries,
    keys: *const f32,
    to: *mut f32,
    row: usize,
) {
    let mut sums = [[isa.splat(0.0); N]; M];
    // SAFETY: none is beyond the last query.
    let rows: [_; M] = core::array::from_fn(
        #[inline(always)]
        |query| unsafe { queries.from.add(query.min(queries.count - 1) * queries.step) },
    );
    for at in 0..queries.width {
        // SAFETY: each panel has as many vectors, and each query as many numbers.
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
            // SAFETY: the row has room for all panels.
            unsafe { isa.write(to.add(query * row + panel * S::LANES), *sum) };
        }
    }
}

/// What a query has seen so far.
#[derive(Clone, Copy)]
pub struct Seen {
    /// The greatest score.
    pub greatest: f32,
    /// The sum of exponentials of scores less that one.
    pub sum: f32,
}

impl Seen {
    /// Nothing.
    pub const NOTHING: Self = Self { greatest: f32::NEG_INFINITY, sum: 0.0 };
}

/// What makes scores of products: `cap(product * scale) + masks`.
#[derive(Clone, Copy)]
pub struct Bent<'a> {
    /// What products are multiplied by.
    pub scale: f32,
    /// Scores are bent towards this, unless it is 0.
    pub soft_cap: f32,
    /// Rows of addends.
    pub masks: &'a [*const f32],
}

impl Bent<'_> {
    /// The scores of the products of the keys from `at` on, of which `count` are not beyond the visible ones.
    ///
    /// # Safety
    /// There is a vector of products, and each mask has as many numbers.
    #[inline(always)]
    unsafe fn scores<S: Isa>(&self, isa: S, products: *const f32, at: usize, count: usize) -> S::F32 {
        // SAFETY: the caller's promise.
        unsafe {
            let mut score = isa.read(products) * isa.splat(self.scale);
            if self.soft_cap > 0.0 {
                score = math::tanh(isa, score * isa.splat(1.0 / self.soft_cap)) * isa.splat(self.soft_cap);
            }
            for mask in self.masks {
                let mask = mask.add(at);
                score = score + if count < S::LANES { isa.read_part(mask, count) } else { isa.read(mask) };
            }
            score
        }
    }

    /// The same where some lanes are hidden, if not all.
    ///
    /// # Safety
    /// As for [`Self::scores`], of the lanes that are shown and those before them.
    #[inline(always)]
    unsafe fn shown<S: Isa>(&self, isa: S, products: *const f32, at: usize, lanes: Range<usize>) -> S::F32 {
        let hidden = isa.splat(f32::NEG_INFINITY);
        if lanes.is_empty() {
            return hidden;
        }
        // SAFETY: the caller's promise.
        let score = unsafe { self.scores(isa, products, at, lanes.end) };
        let score = score.select(crate::rows::first(isa, lanes.end), hidden);
        hidden.select(crate::rows::first(isa, lanes.start), score)
    }
}

/// Makes scores of the `visible` products, hides all others, and replaces all by exponentials. Updates what the query has
/// seen, and returns the factor for what it took before.
///
/// # Safety
/// There are `padded` scores, a multiple of [`Isa::LANES`], and at least as many numbers from each mask on as are visible.
#[inline(always)]
pub unsafe fn exponentials<S: Isa>(
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
        // SAFETY: vectors are below `padded`, and whole ones are visible.
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
    // Where all is hidden, the exponentials of negative infinity less anything are 0.
    let base = if greatest == f32::NEG_INFINITY { 0.0 } else { greatest };
    let mut sums = isa.splat(0.0);
    for at in (0..padded).step_by(S::LANES) {
        // SAFETY: within the scores.
        unsafe {
            let exponential = math::exp(isa, isa.read(scores.add(at)) - isa.splat(base));
            isa.write(scores.add(at), exponential);
            sums = sums + exponential;
        }
    }
    // Before anything is seen, nothing was taken.
    let factor = if seen.sum == 0.0 { 0.0 } else { math::exp(isa, isa.splat(seen.greatest - base)).greatest() };
    *seen = Seen { greatest, sum: seen.sum * factor + sums.sum() };
    factor
}

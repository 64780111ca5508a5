//! Scores of a tile of queries against a block of keys, and their exponentials.
#![allow(unsafe_code)] // Tiles are read through pointers, whose bounds are checked once for a call.

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

/// Makes scores of `visible` products, that is, multiplies them by `scale` and adds the rows of `masks`, hides those beyond,
/// and replaces all by exponentials. Updates what the
/// query has seen, and returns the factor for what it took before.
///
/// # Safety
/// There are `padded` scores, a multiple of [`Isa::LANES`], and at least as many numbers from each mask on as are visible.
#[inline(always)]
pub unsafe fn exponentials<S: Isa>(
    isa: S,
    scores: *mut f32,
    scale: f32,
    masks: &[*const f32],
    visible: usize,
    padded: usize,
    seen: &mut Seen,
) -> f32 {
    let hidden = isa.splat(f32::NEG_INFINITY);
    let whole = visible - visible % S::LANES;
    let (scale, mut greatest) = (isa.splat(scale), hidden);
    // SAFETY: vectors below `whole` are visible, the one after them in part, and all are below `padded`.
    unsafe {
        for at in (0..whole).step_by(S::LANES) {
            let mut score = isa.read(scores.add(at)) * scale;
            for mask in masks {
                score = score + isa.read(mask.add(at));
            }
            isa.write(scores.add(at), score);
            greatest = score.max(greatest);
        }
        if whole < visible {
            let mut score = isa.read(scores.add(whole)) * scale;
            for mask in masks {
                score = score + isa.read_part(mask.add(whole), visible - whole);
            }
            score = score.select(crate::rows::first(isa, visible - whole), hidden);
            isa.write(scores.add(whole), score);
            greatest = score.max(greatest);
        }
        for at in (visible.next_multiple_of(S::LANES)..padded).step_by(S::LANES) {
            isa.write(scores.add(at), hidden);
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

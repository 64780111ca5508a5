//! Attention: values weighted by the softmax of scaled products of queries and keys (Vaswani et al. 2017).
//!
//! The softmax is computed while keys go by (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"): the
//! scores of a block of keys live on the stack, and sums shrink when a greater score comes. No score is stored twice.

use core::ops::Range;

use et_core::{Input, Number, Output, Result, Shape, Tensor};

use super::contract::{Run, dot};
use super::opmath::{Opmath, Raise};
use super::place::Place;
use super::walk::Walk;
use crate::math::Math;

/// Keys whose scores are computed before their values are added.
const KEYS: usize = 32;
/// Columns of the values that are accumulated at a time. The scores are recomputed for each block of columns.
const COLUMNS: usize = 128;

/// Which keys a query row attends to, where the keys lie, and how a score is computed.
pub trait Keys<M: Number> {
    /// The range of keys that a query row attends to; `all` is the number of keys.
    fn seen(&self, row: usize, all: usize) -> Range<usize>;

    /// The row of the keys, and of the values, in which a key lies.
    fn slot(&self, key: usize) -> usize {
        key
    }

    /// The input of the softmax for a scaled query-key product; logit soft-capping happens here.
    fn score(&self, product: M) -> M {
        product
    }

    /// The scale of the key whose row starts at `_start`, for quantized keys.
    fn key_scale(&self, _start: usize) -> M {
        M::ONE
    }

    /// The scale of the value whose row starts at `_start`, for quantized values.
    fn value_scale(&self, _start: usize) -> M {
        M::ONE
    }
}

/// Keys in row order: every key, or with a causal mask the keys up to the row's own index.
pub struct InOrder {
    /// Whether attention is causal: a row attends only to keys up to the row's own index.
    pub causal: bool,
}

impl<M: Number> Keys<M> for InOrder {
    fn seen(&self, row: usize, all: usize) -> Range<usize> {
        0..if self.causal { all.min(row + 1) } else { all }
    }
}

/// The tensors and parameters of attention. Start offsets are those of the first row of a head.
pub struct Attention<'a, T: Opmath, E, K> {
    /// The queries of all heads, `[.., rows, depth]`.
    pub queries: Input<'a, T>,
    /// The keys, `[.., keys, depth]`.
    pub keys: Input<'a, E>,
    /// The values, `[.., keys, columns]`.
    pub values: Input<'a, E>,
    /// The results, `[.., rows, columns]`.
    pub out: Output<'a, T>,
    /// The strides of rows and columns of queries, keys, values and results.
    pub steps: [[usize; 2]; 4],
    /// Rows, keys, depth, columns.
    pub sizes: [usize; 4],
    /// The factor of each query-key product.
    pub scale: T::Math,
    /// The keys of each row.
    pub seen: K,
}

/// The term that a mask adds to the score of a row and a key.
pub type Mask<'m, M> = dyn Fn(usize, usize) -> M + 'm;

impl<T: Opmath, E: Raise<T::Math>, K: Keys<T::Math>> Attention<'_, T, E, K>
where
    T::Math: Math,
{
    /// Computes a head. `starts` are the offsets of the head in queries, keys, values and results. `sink` is the score of a key without
    /// a value, if any.
    pub fn head(&self, starts: [usize; 4], mask: Option<&Mask<'_, T::Math>>, sink: Option<T::Math>) {
        let [rows, _, _, columns] = self.sizes;
        for row in 0..rows {
            for first in (0..columns).step_by(COLUMNS) {
                let count = (columns - first).min(COLUMNS);
                let mut sums = [T::Math::ZERO; COLUMNS];
                let sums = &mut sums[..count];
                let total = self.accumulate(sums, starts, [row, first], mask, sink);
                let to = starts[3] + row * self.steps[3][0] + first * self.steps[3][1];
                for (column, sum) in sums.iter().enumerate() {
                    // A row that sees no key is 0.
                    let mean = if total == T::Math::ZERO { T::Math::ZERO } else { *sum / total };
                    self.out.set(to + column * self.steps[3][1], T::lower(mean));
                }
            }
        }
    }

    /// Adds up weighted values in `sums`, from a column on; returns the sum of the weights.
    fn accumulate(
        &self,
        sums: &mut [T::Math],
        starts: [usize; 4],
        [row, column]: [usize; 2],
        mask: Option<&Mask<'_, T::Math>>,
        sink: Option<T::Math>,
    ) -> T::Math {
        let seen = self.seen.seen(row, self.sizes[1]);
        let (mut greatest, mut total) = sink.map_or((T::Math::LOWEST, T::Math::ZERO), |sink| (sink, T::Math::ONE));
        for first in seen.clone().step_by(KEYS) {
            let mut scores = [T::Math::ZERO; KEYS];
            let scores = &mut scores[..(seen.end - first).min(KEYS)];
            for (index, score) in scores.iter_mut().enumerate() {
                let product = self.seen.score(self.product(starts, row, first + index) * self.scale);
                *score = mask.map_or(product, |mask| product + mask(row, first + index));
            }
            let before = greatest;
            greatest = scores.iter().fold(before, |best, score| if best < *score { *score } else { best });
            let shrink = weight(before, greatest);
            total = total * shrink;
            sums.iter_mut().for_each(|sum| *sum = *sum * shrink);
            for (index, score) in scores.iter().enumerate() {
                let weight = weight(*score, greatest);
                total = total + weight;
                let row = starts[2] + self.seen.slot(first + index) * self.steps[2][0];
                let start = row + column * self.steps[2][1];
                let weight = weight * self.seen.value_scale(row);
                add_scaled(sums, weight, Run { elements: self.values, start, step: self.steps[2][1] });
            }
        }
        total
    }

    fn product(&self, starts: [usize; 4], row: usize, key: usize) -> T::Math {
        let [queries, keys, ..] = self.steps;
        let query = Run { elements: self.queries, start: starts[0] + row * queries[0], step: queries[1] };
        let start = starts[1] + self.seen.slot(key) * keys[0];
        let key = Run { elements: self.keys, start, step: keys[1] };
        dot(T::Math::ZERO, query, key, self.sizes[2]) * self.seen.key_scale(start)
    }
}

/// The softmax weight `exp(score - greatest)`; 0 for a masked key, whatever `greatest` is.
fn weight<M: Math>(score: M, greatest: M) -> M {
    if score == M::LOWEST { M::ZERO } else { (score - greatest).exp() }
}

fn add_scaled<M: Number, E: Raise<M>>(sums: &mut [M], weight: M, values: Run<'_, E>) {
    if values.step == 1 && !sums.is_empty() {
        let values = values.elements.window(values.start, sums.len());
        let add = |(index, sum): (usize, &mut M)| *sum = sum.plus(weight.times(values.get(index).raised()));
        return sums.iter_mut().enumerate().for_each(add);
    }
    for (index, sum) in sums.iter_mut().enumerate() {
        *sum = sum.plus(weight.times(values.elements.get(values.start + index * values.step).raised()));
    }
}

/// Start offsets of heads: outer dimensions are broadcast, and a KV head is shared by a group of neighbouring query
/// heads.
pub struct Heads {
    /// Start offsets of the first head of each batch, in the queries, keys, values, results and the mask.
    walk: Walk<5>,
    /// For each tensor of `walk`: the number of query heads per head of the tensor, and the stride between heads.
    shared: [(usize, usize); 5],
    heads: usize,
}

impl Heads {
    /// The heads of `outer`, the dimensions of the result without the last two; `mask` is broadcast to `outer`.
    pub fn new(outer: &Shape, tensors: [&Tensor<'_>; 4], mask: Place) -> Result<Self> {
        let mut firsts = *outer;
        let heads = firsts.sizes_mut().last_mut().map_or(1, |heads| core::mem::replace(heads, 1) as usize);
        let [queries, keys, values, out] = tensors.map(|tensor| outer_place(tensor, outer));
        let walk = Walk::over(&firsts, [queries, keys, values, out, mask])?;
        let [queries, keys, values, out] = tensors.map(|tensor| sharing(tensor, heads));
        let mask = (1, outer.rank().checked_sub(1).map_or(0, |dim| mask.strides[dim]));
        Ok(Self { walk, shared: [queries, keys, values, out, mask], heads })
    }

    /// Calls `visit` with where each head starts in the queries, keys, values and results, and in the mask.
    pub fn for_each(&self, mut visit: impl FnMut([usize; 4], usize)) {
        for firsts in self.walk.clone() {
            for head in 0..self.heads {
                let mut starts = firsts;
                for (start, (heads, step)) in starts.iter_mut().zip(self.shared) {
                    *start += head / heads * step;
                }
                let [queries, keys, values, out, mask] = starts;
                visit([queries, keys, values, out], mask);
            }
        }
    }
}

/// The number of query heads, out of `heads`, per head of a tensor, and the stride between heads.
fn sharing(tensor: &Tensor<'_>, heads: usize) -> (usize, usize) {
    let dim = tensor.rank().checked_sub(3);
    let own = dim.map(|dim| (heads.checked_div(tensor.size(dim)), tensor.strides()[dim]));
    own.map_or((1, 0), |(heads, step)| (heads.unwrap_or(1).max(1), step))
}

/// All dimensions of a tensor but the last two, broadcast to `outer`.
fn outer_place(tensor: &Tensor<'_>, outer: &Shape) -> Place {
    let (own, all) = (tensor.rank().saturating_sub(2), tensor.strides());
    let missing = outer.rank().saturating_sub(own);
    let mut place = Place::FIRST;
    for (dim, step) in all.into_iter().enumerate().take(own).filter(|(dim, _)| tensor.size(*dim) != 1) {
        place.strides[missing + dim] = step;
    }
    place
}

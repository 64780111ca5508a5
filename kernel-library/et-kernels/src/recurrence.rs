//! Recurrences over the rows of a text: linear attention by the gated delta rule, and selective state spaces (Mamba).
//!
//! A row of the state is stepped by every token of a block before the next rows, so that it stays in L1 with the keys and queries of the
//! block. Rows of the state are independent of each other: threads share them.
#![allow(unsafe_code)] // Threads write interleaved elements of one output; bounds are checked once for a call.

use core::array::from_fn;
use core::ops::Range;

use et_core::Result;
use et_simd::{Float, Level, Simd, Work, math};

use crate::check::{ensure, product};

/// Tokens of a block.
const BLOCK: usize = 16;
/// Rows of the state that a token steps at a time, so that they share the loads of its key and query.
const ROWS: usize = 4;

/// The sizes of a recurrence.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Rows of the chunk.
    pub rows: usize,
    /// Heads of values.
    pub heads: usize,
    /// Heads of keys and queries, of which neighbouring heads of values share each.
    pub groups: usize,
    /// Elements of a value.
    pub depth: usize,
    /// Elements of a key.
    pub width: usize,
}

/// How a token changes a row of the state, which has faded by `decay = exp(step * rate)` before.
#[derive(Clone, Copy, Debug)]
pub enum Rule<'a> {
    /// The gated delta rule (Yang et al. 2024): adds `share * (value - row * key) * key`.
    Delta {
        /// The shares, `[rows, heads]`.
        shares: &'a [f32],
    },
    /// A selective scan (Gu and Dao 2023): adds `step * value * key`.
    Scan {
        /// The factor of the value that is added to the output, `[heads]`.
        skips: Option<&'a [f32]>,
    },
}

/// A recurrence. The output of a token is the product of the state with the query.
#[derive(Clone, Copy, Debug)]
pub struct Recurrence<'a> {
    /// The sizes.
    pub sizes: Sizes,
    /// The first rows, which are tokens; the output of the others is zero.
    pub tokens: usize,
    /// The rule.
    pub rule: Rule<'a>,
    /// The values, `[rows, heads, depth]`.
    pub values: &'a [f32],
    /// The keys, `[rows, groups, width]`.
    pub keys: &'a [f32],
    /// The queries, `[rows, groups, width]`.
    pub queries: &'a [f32],
    /// The step sizes ahead of bias and softplus, `[rows, heads]`.
    pub steps: &'a [f32],
    /// The biases of steps, `[heads]`.
    pub biases: Option<&'a [f32]>,
    /// The rates, `[heads]`, or `[heads, width]` for rates of each element.
    pub rates: &'a [f32],
    /// The state ahead of the rows.
    pub before: Before<'a>,
}

/// The state ahead of the rows of a chunk, `[heads, depth, width]`.
#[derive(Clone, Copy, Debug)]
pub enum Before<'a> {
    /// Zeros, for a text that begins.
    Zeros,
    /// A state in memory of its own.
    State(&'a [f32]),
    /// The state is where the state behind the rows will be.
    InPlace,
}

impl Sizes {
    /// The rows of the state.
    pub const fn state_rows(&self) -> usize {
        self.heads.saturating_mul(self.depth)
    }

    /// The rows of the state that share a key.
    const fn sharing(&self) -> usize {
        self.state_rows() / self.groups
    }
}

impl Recurrence<'_> {
    fn check(&self) -> Result<()> {
        let Sizes { rows, heads, groups, depth, width } = self.sizes;
        ensure(groups > 0 && heads.is_multiple_of(groups) && depth > 0 && width > 0 && self.tokens <= rows)?;
        let (of_rows, state) = (product(&[rows, heads])?, product(&[heads, depth, width])?);
        ensure(self.values.len() == product(&[of_rows, depth])? && self.steps.len() == of_rows)?;
        ensure([self.keys, self.queries].map(<[f32]>::len) == [product(&[rows, groups, width])?; 2])?;
        ensure(self.rates.len() == heads || self.rates.len() == product(&[heads, width])?)?;
        let (of_heads, shares) = match self.rule {
            Rule::Delta { shares } => ([self.biases, None], Some(shares)),
            Rule::Scan { skips } => ([self.biases, skips], None),
        };
        ensure(of_heads.into_iter().flatten().all(|vector| vector.len() == heads))?;
        ensure(shares.is_none_or(|shares| shares.len() == of_rows && self.rates.len() == heads))?;
        ensure(!matches!(self.before, Before::State(before) if before.len() != state))
    }
}

/// Steps a range of the [rows of the state](Sizes::state_rows) by all tokens. Writes their elements of `output`, `[rows, heads, depth]`,
/// and of `behind`, the state behind the last token.
///
/// # Safety
/// `output` and `behind` are valid for writes, overlap no operand, and no other thread accesses elements of these rows during the call. For
/// [`Before::InPlace`], `behind` is valid for reads.
#[inline]
pub unsafe fn step_rows(
    level: Level,
    recurrence: &Recurrence<'_>,
    output: *mut [f32],
    behind: *mut [f32],
    range: Range<usize>,
) -> Result<()> {
    recurrence.check()?;
    let count = recurrence.sizes.state_rows();
    ensure(range.start <= range.end && range.end <= count)?;
    ensure(output.len() == recurrence.values.len() && behind.len() == product(&[count, recurrence.sizes.width])?)?;
    level.run(Step { recurrence, output: output.cast(), behind: behind.cast(), range });
    Ok(())
}

struct Step<'a> {
    recurrence: &'a Recurrence<'a>,
    output: *mut f32,
    behind: *mut f32,
    range: Range<usize>,
}

/// What the tokens of a block give a head.
#[derive(Clone, Copy)]
struct Gates {
    head: usize,
    steps: [f32; BLOCK],
    /// Of heads with one rate.
    decays: [f32; BLOCK],
}

impl Gates {
    const NONE: Self = Self { head: usize::MAX, steps: [0.0; BLOCK], decays: [0.0; BLOCK] };
}

/// Neighbouring rows of the state with one key.
struct Lines<const N: usize> {
    first: usize,
    heads: [usize; N],
    /// The index of each row's gates.
    gates: [usize; N],
}

impl Work for Step<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        let rows = self.recurrence.sizes.rows;
        let (tokens, end) = (self.recurrence.tokens, self.range.end);
        if tokens == 0 {
            self.begin(self.range.clone());
        }
        for start in (0..tokens).step_by(BLOCK) {
            let block = start..tokens.min(start + BLOCK);
            let mut gates = [Gates::NONE; ROWS];
            let mut row = self.range.start;
            while row < end {
                let shared = self.recurrence.sizes.sharing();
                if row + ROWS <= end && row % shared + ROWS <= shared {
                    self.lines::<S, ROWS>(isa, row, &block, &mut gates);
                    row += ROWS;
                } else {
                    self.lines::<S, 1>(isa, row, &block, &mut gates);
                    row += 1;
                }
            }
        }
        for (token, row) in (tokens..rows).flat_map(|token| self.range.clone().map(move |row| (token, row))) {
            self.set(token, row, 0.0);
        }
    }
}

impl Step<'_> {
    /// Sets rows of the state to those ahead of the chunk.
    #[inline(always)]
    fn begin(&self, rows: Range<usize>) {
        let width = self.recurrence.sizes.width;
        let (first, count) = (rows.start * width, rows.len() * width);
        // SAFETY: `step_rows` checked that the state has the rows of the range, which no other thread accesses.
        let behind = unsafe { core::slice::from_raw_parts_mut(self.behind.add(first), count) };
        match self.recurrence.before {
            Before::State(before) => behind.copy_from_slice(&before[first..first + count]),
            Before::Zeros => behind.fill(0.0),
            Before::InPlace => {}
        }
    }

    /// Sets an element of the output.
    #[inline(always)]
    fn set(&self, token: usize, row: usize, number: f32) {
        // SAFETY: `step_rows` checked that the output has an element for each token and row of the state.
        unsafe { *self.output.add(token * self.recurrence.sizes.state_rows() + row) = number };
    }

    /// Steps rows by the tokens of a block.
    #[inline(always)]
    fn lines<S: Simd, const N: usize>(&self, isa: S, first: usize, block: &Range<usize>, gates: &mut [Gates; ROWS]) {
        if block.start == 0 {
            self.begin(first..first + N);
        }
        let depth = self.recurrence.sizes.depth;
        let heads: [usize; N] = from_fn(|line| (first + line) / depth);
        let lines = Lines { first, heads, gates: from_fn(|line| if heads[line] == heads[0] { 0 } else { line }) };
        for (line, place) in lines.gates.into_iter().enumerate() {
            if gates[place].head != heads[line] {
                gates[place] = self.gates(isa, heads[line], block);
            }
        }
        let has_rates = self.recurrence.rates.len() > self.recurrence.sizes.heads;
        for token in block.clone() {
            let own: [[f32; 2]; N] = from_fn(|line| {
                let Gates { steps, decays, .. } = &gates[lines.gates[line]];
                [steps[token - block.start], decays[token - block.start]]
            });
            if has_rates {
                self.token::<S, N, true>(isa, &lines, token, own);
            } else {
                self.token::<S, N, false>(isa, &lines, token, own);
            }
        }
    }

    /// The gates of a head.
    #[inline(always)]
    fn gates<S: Simd>(&self, isa: S, head: usize, block: &Range<usize>) -> Gates {
        let Recurrence { sizes, steps, biases, rates, .. } = self.recurrence;
        let bias = biases.map_or(0.0, |biases| biases[head]);
        let mut gates = Gates { head, ..Gates::NONE };
        for (step, token) in gates.steps.iter_mut().zip(block.clone()) {
            *step = steps[token * sizes.heads + head] + bias;
        }
        for at in (0..BLOCK).step_by(S::LANES) {
            let size = math::softplus(isa, isa.load(&gates.steps, at));
            isa.store(&mut gates.steps, at, size);
            if rates.len() == sizes.heads {
                isa.store(&mut gates.decays, at, math::exp(isa, size * isa.splat(rates[head])));
            }
        }
        gates
    }

    /// Steps rows by a token with these step sizes and decays; decays of elements come from rates where `HAS_RATES`.
    #[inline(always)]
    fn token<S: Simd, const N: usize, const HAS_RATES: bool>(
        &self,
        isa: S,
        lines: &Lines<N>,
        token: usize,
        own: [[f32; 2]; N],
    ) {
        let Recurrence { sizes, rule, values, keys, queries, .. } = self.recurrence;
        let (width, group) = (sizes.width, lines.first / sizes.sharing());
        let vector = (token * sizes.groups + group) * width;
        let [key, query] = [keys, queries].map(|all| &all[vector..vector + width]);
        let value: [f32; N] = from_fn(|line| values[token * sizes.state_rows() + lines.first + line]);
        let gains: [f32; N] = match rule {
            Rule::Delta { shares } => {
                let known = self.known(isa, lines, key);
                from_fn(|line| {
                    let share = shares[token * sizes.heads + lines.heads[line]];
                    share * (value[line] - own[line][1] * known[line])
                })
            }
            Rule::Scan { .. } => from_fn(|line| own[line][0] * value[line]),
        };
        let mut factors = [[isa.splat(0.0); 3]; N];
        for line in 0..N {
            let [step, decay] = own[line];
            factors[line] = [isa.splat(step), isa.splat(decay), isa.splat(gains[line])];
        }
        let (whole, mut sums) = (width / S::LANES * S::LANES, [isa.splat(0.0); N]);
        for at in (0..whole).step_by(S::LANES) {
            self.columns::<S, N, HAS_RATES>(isa, lines, [key, query], &factors, (at, S::LANES), &mut sums);
        }
        if whole < width {
            self.columns::<S, N, HAS_RATES>(isa, lines, [key, query], &factors, (whole, width - whole), &mut sums);
        }
        for line in 0..N {
            let skip = match rule {
                Rule::Scan { skips: Some(skips) } => skips[lines.heads[line]] * value[line],
                _ => 0.0,
            };
            self.set(token, lines.first + line, sums[line].sum() + skip);
        }
    }

    /// Steps a vector of columns of rows with the step, decay and gain of each row, and adds the products with the query.
    #[inline(always)]
    fn columns<S: Simd, const N: usize, const HAS_RATES: bool>(
        &self,
        isa: S,
        lines: &Lines<N>,
        [key, query]: [&[f32]; 2],
        factors: &[[S::F32; 3]; N],
        (at, count): (usize, usize),
        sums: &mut [S::F32; N],
    ) {
        let (width, rates) = (self.recurrence.sizes.width, self.recurrence.rates);
        // SAFETY: `at + count` is at most the width of keys, queries, rates and rows of the state, whose sizes `step_rows` checked.
        unsafe {
            let key = isa.read_some(key.as_ptr().add(at), count);
            let query = isa.read_some(query.as_ptr().add(at), count);
            for line in 0..N {
                let [step, mut decay, gain] = factors[line];
                if HAS_RATES {
                    let rates = isa.read_some(rates.as_ptr().add(lines.heads[line] * width + at), count);
                    decay = math::exp(isa, rates * step);
                }
                let place = self.behind.add((lines.first + line) * width + at);
                let new = isa.read_some(place.cast_const(), count).mul_add(decay, gain * key);
                isa.write_some(place, count, new);
                sums[line] = new.mul_add(query, sums[line]);
            }
        }
    }

    /// The products of rows with a key.
    #[inline(always)]
    fn known<S: Simd, const N: usize>(&self, isa: S, lines: &Lines<N>, key: &[f32]) -> [f32; N] {
        let (whole, mut sums) = (key.len() / S::LANES * S::LANES, [isa.splat(0.0); N]);
        for at in (0..whole).step_by(S::LANES) {
            self.products(isa, lines, key, (at, S::LANES), &mut sums);
        }
        if whole < key.len() {
            self.products(isa, lines, key, (whole, key.len() - whole), &mut sums);
        }
        let mut known = [0.0; N];
        for line in 0..N {
            known[line] = sums[line].sum();
        }
        known
    }

    /// Adds the products of a vector of columns of rows with a key.
    #[inline(always)]
    fn products<S: Simd, const N: usize>(
        &self,
        isa: S,
        lines: &Lines<N>,
        key: &[f32],
        (at, count): (usize, usize),
        sums: &mut [S::F32; N],
    ) {
        let width = self.recurrence.sizes.width;
        // SAFETY: `at + count` is at most the width of keys and of rows of the state, whose sizes `step_rows` checked.
        unsafe {
            let key = isa.read_some(key.as_ptr().add(at), count);
            for (line, sum) in sums.iter_mut().enumerate() {
                let place = self.behind.add((lines.first + line) * width + at);
                *sum = isa.read_some(place.cast_const(), count).mul_add(key, *sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_close, numbers};
    use std::vec::Vec;

    /// The operands of a recurrence.
    struct Operands {
        sizes: Sizes,
        vectors: [Vec<f32>; 5],
        of_heads: [Vec<f32>; 3],
        rates: Vec<f32>,
        is_delta: bool,
    }

    impl Operands {
        fn new(sizes: Sizes, is_delta: bool, has_rates: bool) -> Self {
            let Sizes { rows, heads, groups, depth, width } = sizes;
            let keys = rows * groups * width;
            let counts = [rows * heads * depth, keys, keys, rows * heads, heads * depth * width];
            let rates = numbers(heads * if has_rates { width } else { 1 }, 20);
            let mut vectors: [Vec<f32>; 5] = from_fn(|index| numbers(counts[index], index as u32));
            let mut of_heads: [Vec<f32>; 3] = from_fn(|index| numbers(heads.max(rows * heads), 10 + index as u32));
            // Keys of at most the length 1, and shares up to 1: others let errors grow.
            vectors[1].iter_mut().for_each(|key| *key /= (width as f32).sqrt());
            of_heads[2].iter_mut().for_each(|share| *share = share.abs());
            Self { sizes, vectors, of_heads, rates: rates.iter().map(|rate| -rate.abs()).collect(), is_delta }
        }

        /// The recurrence of a range of rows, of which so many are tokens.
        fn part<'a>(&'a self, rows: Range<usize>, tokens: usize, before: Before<'a>) -> Recurrence<'a> {
            let Sizes { heads, groups, depth, width, .. } = self.sizes;
            let part = |all: &'a [f32], row: usize| &all[rows.start * row..rows.end * row];
            let [values, keys, queries, steps, _] = &self.vectors;
            let [biases, skips, shares] = &self.of_heads;
            Recurrence {
                sizes: Sizes { rows: rows.len(), ..self.sizes },
                tokens,
                rule: match self.is_delta {
                    true => Rule::Delta { shares: part(shares, heads) },
                    false => Rule::Scan { skips: (depth > 1).then_some(&skips[..heads]) },
                },
                values: part(values, heads * depth),
                keys: part(keys, groups * width),
                queries: part(queries, groups * width),
                steps: part(steps, heads),
                biases: (width > 1).then_some(&biases[..heads]),
                rates: &self.rates,
                before,
            }
        }

        /// Outputs and the state behind the rows, in double precision.
        fn expected(&self, before: Before<'_>) -> [Vec<f64>; 2] {
            let all = self.part(0..self.sizes.rows, self.sizes.rows, before);
            let Sizes { rows, heads, groups, depth, width } = self.sizes;
            let wide = |numbers: &[f32]| numbers.iter().copied().map(f64::from).collect::<Vec<_>>();
            let mut state = match before {
                Before::State(before) => wide(before),
                _ => std::vec![0.0; heads * depth * width],
            };
            let mut outputs = Vec::new();
            for (token, head) in (0..rows).flat_map(|token| (0..heads).map(move |head| (token, head))) {
                let bias = all.biases.map_or(0.0, |biases| f64::from(biases[head]));
                let step = (f64::from(all.steps[token * heads + head]) + bias).exp().ln_1p();
                let first = (token * groups + head / (heads / groups)) * width;
                let [key, query] = [all.keys, all.queries].map(|vectors| wide(&vectors[first..first + width]));
                for element in 0..depth {
                    let value = f64::from(all.values[(token * heads + head) * depth + element]);
                    let row = &mut state[(head * depth + element) * width..][..width];
                    for (column, number) in row.iter_mut().enumerate() {
                        let own = if self.rates.len() > heads { head * width + column } else { head };
                        *number *= (step * f64::from(self.rates[own])).exp();
                    }
                    let known: f64 = row.iter().zip(&key).map(|(number, key)| number * key).sum();
                    let (gain, skip) = match all.rule {
                        Rule::Delta { shares } => (f64::from(shares[token * heads + head]) * (value - known), 0.0),
                        Rule::Scan { skips } => (step * value, skips.map_or(0.0, |skips| f64::from(skips[head]))),
                    };
                    row.iter_mut().zip(&key).for_each(|(number, key)| *number += gain * key);
                    outputs
                        .push(row.iter().zip(&query).map(|(number, query)| number * query).sum::<f64>() + skip * value);
                }
            }
            [outputs, state]
        }
    }

    fn stepped(level: Level, work: &Recurrence<'_>, cut: usize) -> [Vec<f32>; 2] {
        stepped_from(level, work, cut, std::vec![9.0; work.sizes.state_rows() * work.sizes.width])
    }

    /// Outputs and the state, which has this memory.
    fn stepped_from(level: Level, work: &Recurrence<'_>, cut: usize, mut behind: Vec<f32>) -> [Vec<f32>; 2] {
        let mut output = std::vec![9.0; work.values.len()];
        for range in [0..cut, cut..work.sizes.state_rows()] {
            // SAFETY: the memory is that of the vectors, which only this thread accesses.
            unsafe { step_rows(level, work, &raw mut output[..], &raw mut behind[..], range) }.unwrap();
        }
        [output, behind]
    }

    fn sizes([rows, heads, groups, depth, width]: [usize; 5]) -> Sizes {
        Sizes { rows, heads, groups, depth, width }
    }

    #[test]
    fn chunks_and_parts_are_the_recurrence_of_the_text() {
        let shapes = [[1, 2, 1, 8, 32], [19, 4, 2, 5, 20], [40, 6, 1, 1, 16], [33, 2, 2, 4, 7], [17, 3, 3, 9, 1]];
        for (shape, kind) in shapes.iter().flat_map(|shape| (0..3).map(move |kind| (*shape, kind))) {
            let operands = Operands::new(sizes(shape), kind == 0, kind == 2);
            let before = if shape[0] == 40 { Before::Zeros } else { Before::State(&operands.vectors[4]) };
            let [outputs, state] = operands.expected(before);
            let (rows, row) = (shape[0], shape[1] * shape[3]);
            for level in Level::available() {
                let what = std::format!("{shape:?} {kind} with {}", level.name());
                let all = stepped(level, &operands.part(0..rows, rows, before), row / 3);
                assert_close(&what, &all[0], &outputs, 2e-5);
                assert_close(&what, &all[1], &state, 2e-5);
                // The same in two chunks, the second with rows that are no tokens.
                let first = rows / 2;
                let start = stepped(level, &operands.part(0..first, first, before), row);
                let rest = operands.part(first..rows, (rows - first) / 2, Before::State(&start[1]));
                let [some, behind] = stepped(level, &rest, 1);
                let tokens = (rows - first) / 2 * row;
                assert_close(&what, &some[..tokens], &outputs[first * row..][..tokens], 2e-5);
                assert!(some[tokens..].iter().all(|number| *number == 0.0), "{what}");
                let left = (rows - first).div_ceil(2);
                let last = operands.part(rows - left..rows, left, Before::InPlace);
                assert_close(&what, &stepped_from(level, &last, 0, behind)[1], &state, 2e-5);
            }
        }
    }

    #[test]
    fn operands_of_other_sizes_are_refused() {
        let operands = Operands::new(sizes([2, 2, 1, 3, 4]), true, false);
        let good = operands.part(0..2, 2, Before::Zeros);
        let bad = [
            Recurrence { tokens: 3, ..good },
            Recurrence { values: &good.values[1..], ..good },
            Recurrence { keys: &good.keys[1..], ..good },
            Recurrence { rates: &good.rates[1..], ..good },
            Recurrence { before: Before::State(&[0.0]), ..good },
            Recurrence { sizes: Sizes { groups: 0, ..good.sizes }, ..good },
            Recurrence { rule: Rule::Delta { shares: &[0.5] }, ..good },
        ];
        let run = |work: &Recurrence<'_>, count: usize| {
            let (mut output, mut behind) = ([0.0; 12], [0.0; 24]);
            // SAFETY: the memory is that of the arrays.
            unsafe { step_rows(Level::Portable, work, &raw mut output[..], &raw mut behind[..], 0..count) }
        };
        assert!(run(&good, 6).is_ok() && run(&good, 7).is_err());
        assert!(bad.iter().all(|work| run(work, 6).is_err()));
    }
}

//! Tiled `f32` GEMM whose accumulators stay in registers.
//!
//! Columns of the right matrix are packed into a panel on the stack: one or two vectors wide and up to `DEPTH` rows
//! long. A tile of rows of the left matrix is multiplied by the panel. Partial sums wait in the output until the next
//! panel. Every element is summed in the order of the plain loop, so that both give bit-identical results.

use core::ops::Range;

use et_core::Input;

use super::matrix::{Matrix, Target};
use crate::simd::{Vector, Work, run};

/// The maximum number of rows of a panel (KC). With two of the longest vectors per row a panel takes 32 KiB.
const DEPTH: usize = 256;

/// The vectors of a panel.
const PANEL: usize = 2 * DEPTH;

/// The right matrix of a GEMM, in any storage.
pub trait Right {
    /// Packs the elements of `rows` and `columns` into `slots`: each row takes `width` slots, and the elements fill the
    /// first slots of the row.
    fn read(&self, rows: Range<usize>, columns: Range<usize>, width: usize, slots: &mut [f32]);
}

impl Right for Matrix<'_, f32> {
    #[inline(always)]
    fn read(&self, rows: Range<usize>, columns: Range<usize>, width: usize, slots: &mut [f32]) {
        let start = self.start + columns.start * self.steps[1];
        for (row, slots) in rows.zip(slots.chunks_exact_mut(width)) {
            copy_run(self.elements, start + row * self.steps[0], self.steps[1], &mut slots[..columns.len()]);
        }
    }
}

/// Reads elements at equal distances.
#[inline(always)]
pub fn copy_run(elements: Input<'_, f32>, start: usize, step: usize, slots: &mut [f32]) {
    if step == 1 {
        let run = elements.window(start, slots.len());
        slots.iter_mut().enumerate().for_each(|(index, slot)| *slot = run.get(index));
    } else {
        slots.iter_mut().enumerate().for_each(|(index, slot)| *slot = elements.get(start + index * step));
    }
}

/// An `f32` GEMM.
pub struct Product<'a, B, F> {
    /// Rows, inner size, columns.
    pub sizes: [usize; 3],
    /// The left matrix.
    pub left: Matrix<'a, f32>,
    /// The right matrix.
    pub right: B,
    /// The output.
    pub target: Target<'a, f32>,
    /// The epilogue: maps a run of finished sums in place; the arguments are the row and the first column of the run.
    pub finish: F,
}

impl<B: Right, F: Fn(usize, usize, &mut [f32])> Product<'_, B, F> {
    /// Computes and stores all elements.
    pub fn compute(self) {
        run(self);
    }
}

impl<B: Right, F: Fn(usize, usize, &mut [f32])> Work for Product<'_, B, F> {
    #[inline(always)]
    fn run<V: Vector<L>, const L: usize, const R: usize>(self) {
        let mut panel = [[0.0; L]; PANEL];
        let columns = self.sizes[2];
        let mut first = 0;
        while first < columns {
            let count = (columns - first).min(2 * L);
            if count > L {
                self.columns::<V, L, R, 2>(first..first + count, &mut panel);
            } else {
                self.columns::<V, L, R, 1>(first..first + count, &mut panel);
            }
            first += count;
        }
    }
}

/// The part of the GEMM that a panel covers.
struct Part<'p, const L: usize> {
    panel: &'p [[f32; L]],
    inner: Range<usize>,
    columns: Range<usize>,
}

impl<B: Right, F: Fn(usize, usize, &mut [f32])> Product<'_, B, F> {
    /// Computes a block of columns, at most `W` vectors wide.
    #[inline(always)]
    fn columns<V: Vector<L>, const L: usize, const R: usize, const W: usize>(
        &self,
        columns: Range<usize>,
        panel: &mut [[f32; L]; PANEL],
    ) {
        let all = self.sizes[1];
        let mut first = 0;
        loop {
            let inner = first..all.min(first + DEPTH);
            let panel = &mut panel[..inner.len() * W];
            self.right.read(inner.clone(), columns.clone(), W * L, panel.as_flattened_mut());
            self.rows::<V, L, R, W>(&Part { panel, inner: inner.clone(), columns: columns.clone() });
            first = inner.end;
            if first == all {
                return;
            }
        }
    }

    /// Multiplies all rows by a panel: in tiles of `R` rows, then of four rows, then of single rows.
    #[inline(always)]
    fn rows<V: Vector<L>, const L: usize, const R: usize, const W: usize>(&self, part: &Part<'_, L>) {
        let rows = self.sizes[0];
        let mut row = 0;
        while row + R <= rows {
            self.tile::<V, L, R, W>(row, part);
            row += R;
        }
        while row + 4 <= rows {
            self.tile::<V, L, 4, W>(row, part);
            row += 4;
        }
        for row in row..rows {
            self.tile::<V, L, 1, W>(row, part);
        }
    }

    #[inline(always)]
    fn tile<V: Vector<L>, const L: usize, const R: usize, const W: usize>(&self, row: usize, part: &Part<'_, L>) {
        let mut sums = [[[0.0; L]; W]; R];
        if part.inner.start > 0 {
            self.reload(row, part, &mut sums);
        }
        let mut totals = sums.map(|row| row.map(|sums| V::load(&sums)));
        self.add_products(row, part, &mut totals);
        for (sums, totals) in sums.iter_mut().zip(&totals) {
            sums.iter_mut().zip(totals).for_each(|(sums, totals)| totals.store(sums));
        }
        self.keep(row, part, &mut sums);
    }

    /// The loop in which all the time goes.
    #[inline(always)]
    fn add_products<V: Vector<L>, const L: usize, const R: usize, const W: usize>(
        &self,
        row: usize,
        part: &Part<'_, L>,
        totals: &mut [[V; W]; R],
    ) {
        let [row_step, inner_step] = self.left.steps;
        let mut at = self.left.start + row * row_step + part.inner.start * inner_step;
        let mut sums = *totals;
        for vectors in part.panel.chunks_exact(W) {
            let left = self.left.elements.strided::<R>(at, row_step);
            let right: [V; W] = core::array::from_fn(|index| V::load(&vectors[index]));
            for (sums, factor) in sums.iter_mut().zip(left) {
                let factor = V::splat(factor);
                for (sum, right) in sums.iter_mut().zip(right) {
                    *sum = sum.plus_product(factor, right);
                }
            }
            at += inner_step;
        }
        *totals = sums;
    }

    /// Takes up the sums that wait in the output.
    #[inline(always)]
    fn reload<const L: usize, const R: usize, const W: usize>(
        &self,
        row: usize,
        part: &Part<'_, L>,
        sums: &mut [[[f32; L]; W]; R],
    ) {
        for (row, sums) in (row..).zip(sums) {
            let slots = &mut sums.as_flattened_mut()[..part.columns.len()];
            copy_run(self.target.elements.as_input(), self.offset(row, part), self.target.steps[1], slots);
        }
    }

    /// Stores the accumulators of a tile: partial sums unchanged, finished sums after the epilogue.
    #[inline(always)]
    fn keep<const L: usize, const R: usize, const W: usize>(
        &self,
        row: usize,
        part: &Part<'_, L>,
        sums: &mut [[[f32; L]; W]; R],
    ) {
        for (row, sums) in (row..).zip(sums) {
            let sums = &mut sums.as_flattened_mut()[..part.columns.len()];
            if part.inner.end == self.sizes[1] {
                (self.finish)(row, part.columns.start, sums);
            }
            self.store(row, part, sums);
        }
    }

    #[inline(always)]
    fn store<const L: usize>(&self, row: usize, part: &Part<'_, L>, sums: &[f32]) {
        let (start, step) = (self.offset(row, part), self.target.steps[1]);
        let numbered = sums.iter().enumerate();
        if step == 1 {
            let run = self.target.elements.window(start, sums.len());
            numbered.for_each(|(index, sum)| run.set(index, *sum));
        } else {
            let elements = self.target.elements;
            numbered.for_each(|(index, sum)| elements.set(start + index * step, *sum));
        }
    }

    /// The offset of the first of some columns in the output.
    #[inline(always)]
    fn offset<const L: usize>(&self, row: usize, part: &Part<'_, L>) -> usize {
        self.target.start + row * self.target.steps[0] + part.columns.start * self.target.steps[1]
    }
}

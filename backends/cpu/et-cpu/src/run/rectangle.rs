//! Results that are rows of a matrix, computed in blocks of rows and columns.
#![allow(unsafe_code, reason = "tasks write disjoint rectangles of one result")]

use et_core::{Error, Result};
use et_gemm::{Block, Grid, Output};

use crate::Rows;
use crate::memory::{Operands, Plain};
use crate::run::Context;
use crate::split::{self, Chunks, Elements};

/// Some rows of so many columns.
#[derive(Clone, Copy)]
pub struct Rectangle {
    /// Where the rows are.
    pub place: Rows,
    /// How many there are.
    pub rows: usize,
    /// The elements of each.
    pub columns: usize,
}

impl Rectangle {
    /// The elements from the first row's begin to the last row's end.
    pub fn span(&self) -> Result<usize> {
        let Some(last) = self.rows.checked_sub(1) else { return Ok(0) };
        let start = last.checked_mul(self.place.stride as usize);
        start.and_then(|start| start.checked_add(self.columns)).ok_or(Error::InvalidProgram)
    }

    /// The elements to read.
    pub fn read<'m, T: Plain>(&self, operands: &mut Operands<'m, '_, '_>) -> Result<&'m [T]> {
        operands.read(self.place.place, self.span()?)
    }

    /// Writes all of it, after everything else was read: `compute` gets every block of the grid once. `work` is the number of
    /// multiplications, of which a task should have at least `least`.
    pub fn write<T: Plain>(
        &self,
        context: &Context<'_, '_, '_>,
        mut operands: Operands<'_, '_, '_>,
        grid: &Grid,
        (work, least): (usize, usize),
        compute: impl Fn(&mut Output<'_, T>, Block, &mut [u8]) -> Result<()> + Sync,
    ) -> Result<()> {
        let stride = self.place.stride as usize;
        let written = operands.write::<T>(self.place.place, self.span()?)?;
        if !split::are_apart([(self.rows, stride), (self.columns, 1)]) {
            return Err(Error::InvalidProgram);
        }
        let elements = Elements::new(&written);
        split::tasks(context, Chunks::new(context, work, least), |chunk| {
            // SAFETY: `written` is the only access to these rows, and blocks of a grid are disjoint.
            let mut output = unsafe { Output::from_raw(elements.start(), self.rows, self.columns, stride) };
            compute(&mut output, chunk.block(grid), chunk.workspace)
        })
    }
}

//! Output matrices, computed in blocks of rows and columns.
#![allow(unsafe_code, reason = "tasks write disjoint rectangles of one result")]

use et_core::{Error, Result};
use et_gemm::{Block, Grid, Output};

use crate::Rows;
use crate::memory::{Operands, Plain};
use crate::run::Context;
use crate::split::{self, Chunks, Elements};

/// A matrix operand of a GEMM.
#[derive(Clone, Copy)]
pub struct Rectangle {
    /// The address and row stride of the matrix.
    pub place: Rows,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
}

impl Rectangle {
    /// The number of elements that the row stride spans.
    pub fn span(&self) -> Result<usize> {
        let Some(last) = self.rows.checked_sub(1) else { return Ok(0) };
        let start = last.checked_mul(self.place.stride as usize);
        start.and_then(|start| start.checked_add(self.columns)).ok_or(Error::InvalidProgram)
    }

    /// The elements of an input matrix.
    pub fn read<'m, T: Plain>(&self, operands: &mut Operands<'m, '_, '_>) -> Result<&'m [T]> {
        operands.read(self.place.place, self.span()?)
    }

    /// Writes the output matrix: `compute` gets every block of the grid once. All other operands must be read before this call. `work`
    /// is the number of multiply-accumulates; a task has at least `least`.
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
            // SAFETY: `written` is the only access to the output matrix, and the blocks of a grid are disjoint.
            let mut output = unsafe { Output::from_raw(elements.start(), self.rows, self.columns, stride) };
            compute(&mut output, chunk.block(grid), chunk.workspace)
        })
    }
}

//! Two GEMMs become a fused MLP (back-to-back GEMM fusion, as in CUTLASS): the second GEMM reads the output rows of the first from
//! the cache, and the intermediate tensor never exists as a whole. The normalization of the first GEMM's rows joins.
//!
//! Fusion pays where the intermediate tensor exceeds a cache, and a band of rows amortizes reading both packed weights again.

use et_cpu::{Conv2d, FusedMlp, Gemm, Instruction, Normalize, Rows, Window, Write};

use super::Change;
use super::legal::{Dense, absorbed_once};
use crate::program::Program;

/// The minimum rows that amortize a pass over the weights.
const ROWS: usize = 56;

/// Fuses the producer of a GEMM's rows, or of a fused MLP's rows.
pub fn find(program: &mut Program<'_>, consumer: usize) -> Option<Change> {
    let (producer, mlp) = match program.instruction(consumer)? {
        Instruction::Conv2d(second) => with_first(program, consumer, &second)?,
        Instruction::FusedMlp(mlp) => with_normalization(program, consumer, &mlp)?,
        _ => return None,
    };
    Some(Change::fuse(producer, mlp))
}

/// Both GEMMs as a fused instruction; `None` where fusion does not pay.
fn with_first(program: &Program<'_>, consumer: usize, second: &Conv2d) -> Option<(usize, FusedMlp)> {
    let (rows, columns) = (rows_of(second)?, second.window.input[2] as usize);
    let is_dense = second.output.stride == second.window.output[2];
    let (producer, instruction) =
        absorbed_once(program, consumer, matrix(second.input, rows, columns).filter(|_| is_dense)?)?;
    let Instruction::Conv2d(first) = instruction else { return None };
    let agrees = rows_of(&first)? == rows && first.window.output[2] as usize == columns;
    let bands = FusedMlp::bands(rows, columns);
    let pays = bands > 1 && rows / bands >= ROWS;
    let hidden = Rows { stride: columns as u32, ..Rows::ABSENT };
    (agrees && pays).then_some((
        producer,
        FusedMlp {
            normalize: Normalize { input: Rows::ABSENT, output: Write(Rows::ABSENT), ..Normalize::default() },
            first: Conv2d { output: Write(hidden), ..first },
            second: Conv2d { input: hidden, ..*second },
        },
    ))
}

/// The fused MLP with the normalization of the rows that the first GEMM reads.
fn with_normalization(program: &Program<'_>, consumer: usize, mlp: &FusedMlp) -> Option<(usize, FusedMlp)> {
    let (rows, columns) = (rows_of(&mlp.first)?, mlp.first.window.input[2] as usize);
    let (producer, instruction) = absorbed_once(program, consumer, matrix(mlp.first.input, rows, columns)?)?;
    let Instruction::Normalize(normalize) = instruction else { return None };
    let agrees = [normalize.rows as usize, normalize.columns as usize] == [rows, columns];
    let normalize = Normalize { output: Write(Rows::ABSENT), ..normalize };
    let first = Conv2d { input: Rows::ABSENT, ..mlp.first };
    agrees.then_some((producer, FusedMlp { normalize, first, ..*mlp }))
}

/// A contiguous matrix.
fn matrix(rows: Rows, count: usize, columns: usize) -> Option<Dense> {
    (rows.stride as usize == columns).then(|| Dense::floats(rows.place, count * columns))
}

/// The rows of an f32 GEMM; `None` for other convolutions.
fn rows_of(gemm: &Conv2d) -> Option<usize> {
    let is_plain = gemm.gemm() == Some(Gemm::Float) && !gemm.channel_scales.is_present();
    rows_of_window(&gemm.window).filter(|_| is_plain)
}

/// The rows of a GEMM (a 1x1 window); `None` for other convolutions.
pub fn rows_of_window(window: &Window) -> Option<usize> {
    let shape = window.shape(window.input[2] as usize)?;
    (shape.groups == 1 && shape.is_pointwise()).then(|| shape.rows())
}

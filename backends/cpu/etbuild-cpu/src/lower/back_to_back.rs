//! Pairs of products whose rows need each other only: the second reads what the first computes while that is in the cache, and the
//! rows between are never in memory as a whole (back-to-back fusion in the terms of CUTLASS).
//!
//! It pays where those rows are more than a cache holds, and where a band of them is worth reading both products' weights again.

use et_cpu::{BackToBack, Instruction, Normalize, Place, Product, Rows, Window};

use crate::builder::Builder;
use crate::lower::unread::Mentions;

/// The bytes between two products of which a second-level cache holds a band beside weights.
const BAND: usize = 5 << 17;

/// The fewest rows that are worth reading the weights for.
const ROWS: usize = 56;

/// Joins all such pairs.
pub fn join(builder: &mut Builder<'_>) {
    let mentions = Mentions::of(builder);
    for position in 0..builder.instructions.len() {
        let Some(first) = builder.before(position) else { continue };
        let Some(mut pair) = joined(builder, &mentions, first, position) else { continue };
        builder.take(first);
        let before = builder.before(first);
        let normalization = before.and_then(|before| normalized(builder, &mentions, before, &pair));
        if let Some((normalization, normalize)) = normalization {
            (pair.normalize, pair.first.input) = (normalize, ABSENT);
            builder.take(normalization);
        }
        builder.place_taken(position, pair);
    }
}

const ABSENT: Rows = Rows { place: Place::ABSENT, stride: 0 };

/// Both products as one instruction, if that pays.
fn joined(builder: &Builder<'_>, mentions: &Mentions, first: usize, second: usize) -> Option<BackToBack> {
    let (Some(Instruction::Product(first)), Some(Instruction::Product(second))) =
        (builder.instructions[first], builder.instructions[second])
    else {
        return None;
    };
    let (rows, columns) = (of_rows(&first.window)?, first.window.output[2]);
    let follows = of_rows(&second.window)? == rows && second.window.input[2] == columns;
    let is_dense = second.output.stride == second.window.output[2];
    if !follows || !is_dense || !mentions.are_between(builder, first.output, second.input, columns) {
        return None;
    }
    let bands = (rows * columns as usize * size_of::<f32>()).div_ceil(BAND);
    let pays = bands > 1 && rows / bands >= ROWS;
    let hidden = Rows { place: Place::ABSENT, stride: columns };
    pays.then_some(BackToBack {
        normalize: Normalize { input: ABSENT, output: ABSENT, ..Normalize::default() },
        first: Product { output: hidden, ..first },
        second: Product { input: hidden, ..second },
        bands: bands as u32,
    })
}

/// The normalization of what a pair reads and nothing else does.
fn normalized(
    builder: &Builder<'_>,
    mentions: &Mentions,
    position: usize,
    pair: &BackToBack,
) -> Option<(usize, Normalize)> {
    let Some(Instruction::Normalize(normalize)) = builder.instructions[position] else { return None };
    let fits =
        normalize.rows as usize == of_rows(&pair.first.window)? && normalize.columns == pair.first.window.input[2];
    let is_only = mentions.are_between(builder, normalize.output, pair.first.input, normalize.columns);
    (fits && is_only).then_some((position, Normalize { output: ABSENT, ..normalize }))
}

/// The number of rows, if a window is a row of the input.
pub fn of_rows(window: &Window) -> Option<usize> {
    let shape = et_cpu::shape(window, window.input[2] as usize)?;
    (shape.groups == 1 && shape.is_pointwise()).then(|| shape.rows())
}

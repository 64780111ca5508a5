//! Back-to-back GEMM fusion (as in CUTLASS): the second GEMM reads the output rows of the first from the cache, and the intermediate
//! tensor never exists as a whole.
//!
//! Fusion pays where the intermediate tensor exceeds a cache, and a band of rows amortizes reading both packed weights again.

use et_cpu::{BackToBack, Instruction, Normalize, Place, Product, Rows, Window};

use crate::builder::Builder;
use crate::lower::unread::Mentions;

/// The intermediate bytes of a band that fit in a second-level cache beside weight panels.
const BAND: usize = 5 << 17;

/// The minimum rows that amortize a pass over the weights.
const ROWS: usize = 56;

/// Fuses all pairs of back-to-back GEMMs.
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

/// Both GEMMs as a fused instruction; `None` where fusion does not pay.
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

/// The normalization whose output is read by the first GEMM only.
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

/// The rows of a GEMM (a 1x1 window); `None` for other convolutions.
pub fn of_rows(window: &Window) -> Option<usize> {
    let shape = et_cpu::shape(window, window.input[2] as usize)?;
    (shape.groups == 1 && shape.is_pointwise()).then(|| shape.rows())
}

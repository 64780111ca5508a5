//! `etbuild::write_cache`: the rows of a piece of text, written to a cache in place.

use crate::family::place::Place;
use crate::family::span::{self, Span};
use crate::family::{transfer, unary};
use crate::prelude::*;

/// Writes `rows`, `[batch, rows, heads, depth]`, to `cache`, `[batch, slots, heads, depth]`: the row of a position to slot
/// `position % slots`. Rows behind `last` are not written. More rows than slots are refused. A cache may be in half precision
/// where rows are `float32`.
#[cfg(feature = "catalogue")]
pub const WRITE_CACHE: Operator = Operator {
    schema: "etbuild::write_cache(Tensor(a!) cache, Tensor rows, Tensor start, Tensor last) -> Tensor(a!)",
    functional: "etbuild::write_cache",
    path: kernel_path!(in_place),
    dtypes: Dtypes::ALL,
    infer,
    kernel: in_place::<ALL>,
    cases: &[
        Case::exact(
            "two rows from the second slot on",
            &[
                Tensor(CaseTensor::float(&[1, 4, 1, 2], &[9.0; 8])),
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[1.0, 2.0, 3.0, 4.0])),
                Tensor(CaseTensor::long(&[1], &[1.0])),
                Tensor(CaseTensor::long(&[1], &[1.0])),
            ],
            &[CaseTensor::float(&[1, 4, 1, 2], &[9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 9.0, 9.0])],
        ),
        Case::exact(
            "around the end, without the row that is no token",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[1, 3, 2, 1], &[9.0; 6])),
                Tensor(CaseTensor::of(ScalarType::Char, &[1, 3, 2, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::long(&[1], &[5.0])),
                Tensor(CaseTensor::long(&[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Char, &[1, 3, 2, 1], &[3.0, 4.0, 9.0, 9.0, 1.0, 2.0])],
        ),
        Case::exact(
            "rows that are narrowed",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[1, 2, 1, 2], &[9.0; 4])),
                Tensor(CaseTensor::float(&[1, 1, 1, 2], &[1.5, 2049.0])),
                Tensor(CaseTensor::long(&[1], &[1.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
            ],
            &[CaseTensor::of(ScalarType::Half, &[1, 2, 1, 2], &[9.0, 9.0, 1.5, 2048.0])],
        ),
        Case::refused(
            "rows that would be widened",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[9.0])),
                Tensor(CaseTensor::of(ScalarType::Half, &[1, 1, 1, 1], &[1.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
            ],
            Error::InvalidType,
        ),
        Case::refused(
            "more tokens than slots",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[9.0])),
                Tensor(CaseTensor::float(&[1, 2, 1, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::long(&[1], &[1.0])),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a last row that there is not",
            &[
                Tensor(CaseTensor::float(&[1, 4, 1, 1], &[9.0; 4])),
                Tensor(CaseTensor::float(&[1, 2, 1, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::long(&[1], &[2.0])),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let [cache, rows] = [args.tensor(0)?, args.tensor(1)?];
    span::check(args, [2, 3])?;
    let is_narrowed = (cache.scalar_type(), rows.scalar_type()) == (ScalarType::Half, ScalarType::Float);
    if cache.scalar_type() != rows.scalar_type() && !is_narrowed {
        return Err(Error::InvalidType);
    }
    let ([slots, new], mut wanted) = ([cache.shape(), rows.shape()], rows.shape());
    if new.rank() != 4 || slots.rank() != 4 {
        return Err(Error::InvalidArgument);
    }
    wanted.sizes_mut()[1] = slots.sizes()[1];
    if wanted == slots { unary::like_first(args, index) } else { Err(Error::InvalidArgument) }
}

/// The portable kernel for the types in `D`.
pub fn in_place<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    infer(args, 0)?;
    let [cache, rows] = [args.tensor(0)?, args.tensor(1)?];
    let (slots, span) = (cache.size(1), Span::read(args, [2, 3], rows.size(1))?);
    if span.last >= slots {
        return Err(Error::InvalidArgument);
    }
    let first = span.start % slots;
    let before_end = (span.last + 1).min(slots - first);
    copy::<D>((&rows, 0), (&cache, first), before_end)?;
    copy::<D>((&rows, before_end), (&cache, 0), span.last + 1 - before_end)
}

/// Copies `count` neighbouring rows.
fn copy<const D: u32>(
    (rows, from): (&et_core::Tensor<'_>, usize),
    (cache, to): (&et_core::Tensor<'_>, usize),
    count: usize,
) -> Result<()> {
    let mut shape = rows.shape();
    shape.sizes_mut()[1] = count as i32;
    let (from, to) = (Place::of(rows).moved(1, from as i64), Place::of(cache).moved(1, to as i64));
    transfer::region_converted::<D>(&shape, (rows, from), (cache, to))
}

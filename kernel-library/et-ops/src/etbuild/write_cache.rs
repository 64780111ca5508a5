//! `etbuild::write_cache`: writes the rows of a prefill chunk, or of a decode step, to the KV cache in place.

use crate::etbuild::byte_row;
use crate::etbuild::span::{self, Span};
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::family::{transfer, unary};
use crate::prelude::*;

/// Writes `rows`, `[batch, rows, heads, depth]`, to the KV cache `cache`, `[batch, slots, heads, depth]`: the row of a
/// position goes to slot `position % slots` of the ring buffer. Padding rows behind `last` are not written. More rows
/// than slots are refused. With `float32` rows, a cache may be fp16, or int8 of shape
/// `[batch, slots, heads, depth + 4]`: symmetric quantization per row, with the row's `float32` scale as four
/// little-endian bytes behind the numbers.
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
        Case::exact(
            "rows quantized to int8",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[1, 2, 2, 7], &[9.0; 28])),
                Tensor(CaseTensor::float(&[1, 1, 2, 3], &[-63.5, 0.25, 0.75, 0.0, 31.75, -0.125])),
                Tensor(CaseTensor::long(&[1], &[3.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
            ],
            &[CaseTensor::of(ScalarType::Char, &[1, 2, 2, 7], BYTES)],
        ),
        Case::refused(
            "bytes without room for a scale",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[1, 1, 1, 4], &[9.0; 4])),
                Tensor(CaseTensor::float(&[1, 1, 1, 4], &[1.0; 4])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
            ],
            Error::InvalidArgument,
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

/// An unwritten row, then a row of two int8 heads, each followed by the bytes of its scale: 0.5 and 0.25 as `f32`.
#[rustfmt::skip]
const BYTES: &[f64] = &[
    9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0,
    9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0,
    -127.0, 0.0, 2.0, 0.0, 0.0, 0.0, 63.0,
    0.0, 127.0, 0.0, 0.0, 0.0, -128.0, 62.0,
];

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let [cache, rows] = [args.tensor(0)?, args.tensor(1)?];
    span::check(args, [2, 3])?;
    let is_narrowed =
        are_bytes(&cache, &rows) || (cache.scalar_type(), rows.scalar_type()) == (ScalarType::Half, ScalarType::Float);
    if cache.scalar_type() != rows.scalar_type() && !is_narrowed {
        return Err(Error::InvalidType);
    }
    let ([slots, new], mut wanted) = ([cache.shape(), rows.shape()], rows.shape());
    if new.rank() != 4 || slots.rank() != 4 {
        return Err(Error::InvalidArgument);
    }
    wanted.sizes_mut()[1] = slots.sizes()[1];
    if are_bytes(&cache, &rows) {
        wanted.sizes_mut()[3] += byte_row::SCALE as i32;
    }
    if wanted == slots { unary::like_first(args, index) } else { Err(Error::InvalidArgument) }
}

/// Whether rows are quantized to int8.
fn are_bytes(cache: &et_core::Tensor<'_>, rows: &et_core::Tensor<'_>) -> bool {
    (cache.scalar_type(), rows.scalar_type()) == (ScalarType::Char, ScalarType::Float)
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
    if const { Dtypes(D).contains(ScalarType::Char) } && are_bytes(cache, rows) {
        return narrow(shape, (rows, from), (cache, to));
    }
    let (from, to) = (Place::of(rows).moved(1, from as i64), Place::of(cache).moved(1, to as i64));
    transfer::region_converted::<D>(&shape, (rows, from), (cache, to))
}

/// Quantizes the rows of a chunk of `shape` to int8 and writes the rows.
fn narrow(
    mut shape: Shape,
    (rows, from): (&et_core::Tensor<'_>, usize),
    (cache, to): (&et_core::Tensor<'_>, usize),
) -> Result<()> {
    let (numbers, bytes, steps) = (rows.input()?, cache.output()?, [rows, cache].map(|tensor| tensor.strides()[3]));
    let depth = core::mem::replace(&mut shape.sizes_mut()[3], 1) as usize;
    let places = [Place::of(rows).moved(1, from as i64), Place::of(cache).moved(1, to as i64)];
    Walk::over(&shape, places)?.for_each(|[from, to]| byte_row::write((numbers, from), (bytes, to), steps, depth));
    Ok(())
}

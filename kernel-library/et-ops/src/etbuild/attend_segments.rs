//! `etbuild::attend_segments`: attention of rows to the rows of their own segment, such as a window of a picture.

use core::ops::Range;

use crate::family::attention::{Attention, Keys};
use crate::family::opmath::Opmath;
use crate::family::unary;
use crate::math::Math;
use crate::prelude::*;
use et_core::{Element, Input};

/// Attention (Vaswani et al. 2017) of `query` to `keys` and `values`, `[batch, rows, heads, depth]` each, within segments: rows of a
/// segment follow each other, and see each other in both directions. `ends`, `[rows]`, has for each row the index behind the last row of
/// the row's segment. A call is refused where segments do not follow each other up to the last row.
#[cfg(feature = "catalogue")]
pub const ATTEND_SEGMENTS: Operator = Operator {
    schema: "etbuild::attend_segments.out(Tensor query, Tensor keys, Tensor values, Tensor ends, float scale, *, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "etbuild::attend_segments",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "a segment of two rows and a segment of one, of two heads",
            1e-6,
            &[
                Tensor(QUERY),
                Tensor(KEYS),
                Tensor(VALUES),
                Tensor(CaseTensor::long(&[3], &[2.0, 2.0, 3.0])),
                Double(0.5),
            ],
            &[CaseTensor::float(&[1, 3, 2, 1], &[1.7550813376, 1.4378234991, 1.8756469982, 1.3775406688, -4.0, 5.0])],
        ),
        Case::refused(
            "segments that end behind the last row",
            &[
                Tensor(QUERY),
                Tensor(KEYS),
                Tensor(VALUES),
                Tensor(CaseTensor::long(&[3], &[2.0, 2.0, 4.0])),
                Double(0.5),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a row within a segment that ends elsewhere",
            &[
                Tensor(QUERY),
                Tensor(KEYS),
                Tensor(VALUES),
                Tensor(CaseTensor::long(&[3], &[3.0, 2.0, 3.0])),
                Double(0.5),
            ],
            Error::InvalidArgument,
        ),
    ],
};

const QUERY: CaseTensor = CaseTensor::float(&[1, 3, 2, 1], &[1.0, -1.0, 0.5, -2.0, 2.0, 1.0]);
const KEYS: CaseTensor = CaseTensor::float(&[1, 3, 2, 1], &[0.0, 1.0, -1.0, 0.5, 1.0, 1.0]);
const VALUES: CaseTensor = CaseTensor::float(&[1, 3, 2, 1], &[1.0, 2.0, 3.0, 1.0, -4.0, 5.0]);

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let [query, keys, values, ends] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?, args.tensor(3)?];
    if ends.scalar_type() != ScalarType::Long {
        return Err(Error::InvalidType);
    }
    let shape = query.shape();
    let [_, rows, _, _] = shape.sizes() else { return Err(Error::InvalidArgument) };
    let fits = keys.shape() == shape && values.shape() == shape && ends.shape().sizes() == [*rows];
    if fits { unary::like_first(args, index) } else { Err(Error::InvalidArgument) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(5)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => attend::<T>(args, &out))
}

fn attend<T: Opmath>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()>
where
    T::Math: Math,
{
    let [query, keys, values] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    let strides = [&query, &keys, &values, out].map(|tensor| tensor.strides());
    let (rows, depth) = (query.size(1), query.size(3));
    let attention = Attention::<T, T, Segments<'_>> {
        queries: query.input()?,
        keys: keys.input()?,
        values: values.input()?,
        out: out.output()?,
        steps: strides.map(|strides| [strides[1], strides[3]]),
        sizes: [rows, rows, depth, depth],
        scale: T::Math::from_f64(args.double(4)?),
        seen: Segments::read(args, rows)?,
    };
    for batch in 0..query.size(0) {
        for head in 0..query.size(2) {
            attention.head(strides.map(|strides| head * strides[2] + batch * strides[0]), None, None);
        }
    }
    Ok(())
}

/// The segments of the rows.
struct Segments<'a> {
    ends: Input<'a, i64>,
    step: usize,
}

impl<'a> Segments<'a> {
    /// Reads the segments, which cover all rows.
    fn read(args: &Args<'a, '_>, rows: usize) -> Result<Self> {
        let ends = args.tensor(3)?;
        let segments = Self { ends: ends.input()?, step: ends.strides()[0] };
        let mut row = 0;
        while row < rows {
            let end = segments.end(row);
            if end <= row || end > rows || (row..end).any(|row| segments.end(row) != end) {
                return Err(Error::InvalidArgument);
            }
            row = end;
        }
        Ok(segments)
    }

    /// The index behind the last row of the segment of a row; 0 for a negative number.
    fn end(&self, row: usize) -> usize {
        usize::try_from(self.ends.get(row * self.step)).unwrap_or(0)
    }
}

impl<M: Math> Keys<M> for Segments<'_> {
    fn seen(&self, row: usize, _all: usize) -> Range<usize> {
        let end = self.end(row);
        let before = (0..row).rev().take_while(|before| self.end(*before) == end).count();
        row - before..end
    }
}

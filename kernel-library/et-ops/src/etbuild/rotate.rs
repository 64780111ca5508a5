//! `etbuild::rotate`: pairs of elements turned by the angles of their row's position.

use crate::etbuild::span::{self, Span};
use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::unary;
use crate::family::walk::Walk;
use crate::math::Math;
use crate::prelude::*;

/// Rotary position embedding (RoPE, Su et al. 2021) in the element order of Hugging Face's models: element `i` of a
/// head pairs with element `i + pairs`, or, if `interleaved`, element `2 i` with element `2 i + 1`; elements behind all pairs are copied. `input` is `[.., rows, heads, depth]`;
/// `cosines` and `sines` are `[positions, pairs]`. Padding rows behind `last` are rotated by the position of `last`. A
/// position behind the end of the tables is refused.
#[cfg(feature = "catalogue")]
pub const ROTATE: Operator = Operator {
    schema: "etbuild::rotate.out(Tensor input, Tensor cosines, Tensor sines, Tensor start, Tensor last, \
             bool interleaved=False, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "etbuild::rotate",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "two heads of two rows at the second position",
            &[
                Tensor(CaseTensor::float(&[2, 2, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
                Tensor(COSINES),
                Tensor(SINES),
                Tensor(CaseTensor::long(&[1], &[1.0])),
                Tensor(CaseTensor::long(&[1], &[1.0])),
                Bool(false),
            ],
            &[CaseTensor::float(&[2, 2, 2], &[-2.0, 1.0, -4.0, 3.0, -2.0, 6.75, -2.5, 9.25])],
        ),
        Case::exact(
            "elements that stay, and a row that is no token",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 1, 3], &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[3, 1], &[1.0, 0.0, 0.5])),
                Tensor(CaseTensor::of(ScalarType::Double, &[3, 1], &[0.0, 1.0, 1.0])),
                Tensor(CaseTensor::long(&[1], &[2.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 2, 1, 3], &[-1.5, 2.0, 3.0, -1.5, 2.0, 3.0])],
        ),
        Case::exact(
            "pairs of neighbours, and an element that stays",
            &[
                Tensor(CaseTensor::float(&[1, 1, 5], &[1.0, 2.0, 3.0, 4.0, 5.0])),
                Tensor(CaseTensor::float(&[1, 2], &[0.5, 0.0])),
                Tensor(CaseTensor::float(&[1, 2], &[2.0, 1.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Bool(true),
            ],
            &[CaseTensor::float(&[1, 1, 5], &[-3.5, 3.0, -4.0, 3.0, 5.0])],
        ),
        Case::refused(
            "a position behind the tables",
            &[
                Tensor(CaseTensor::float(&[2, 1, 2], &[1.0, 2.0, 3.0, 4.0])),
                Tensor(COSINES),
                Tensor(SINES),
                Tensor(CaseTensor::long(&[1], &[2.0])),
                Tensor(CaseTensor::long(&[1], &[1.0])),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "more pairs than elements",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1], &[1.0])),
                Tensor(COSINES),
                Tensor(SINES),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

const COSINES: CaseTensor = CaseTensor::float(&[3, 1], &[1.0, 0.0, 0.5]);
const SINES: CaseTensor = CaseTensor::float(&[3, 1], &[0.0, 1.0, 0.75]);

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let [input, cosines, sines] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    span::check(args, [3, 4])?;
    let (shape, tables) = (input.shape(), [cosines.shape(), sines.shape()]);
    let fits = match (shape.sizes(), tables[0].sizes()) {
        ([.., _, _, depth], [_, pairs]) => 2 * i64::from(*pairs) <= i64::from(*depth),
        _ => false,
    };
    if fits && tables[0] == tables[1] { unary::like_first(args, index) } else { Err(Error::InvalidArgument) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(6)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => turn::<T>(args, &out))
}

fn turn<T: Opmath>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()>
where
    T::Math: Math,
{
    let [input, cosines, sines] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    let (from, to, shape) = (input.input::<T>()?, out.output::<T>()?, input.shape());
    let tables = [cosines.input::<T>()?, sines.input::<T>()?];
    let (rows, inner) = (shape.rank() - 3, shape.rank() - 1);
    let span = Span::read(args, [3, 4], shape.size(rows))?;
    let (depth, pairs, interleaved) = (shape.size(inner), cosines.size(1), args.bool(5)?);
    if span.end() > cosines.size(0) {
        return Err(Error::InvalidArgument);
    }
    let mut heads = shape;
    heads.sizes_mut()[inner] = 1;
    let mut row = Place::FIRST;
    row.strides[rows] = 1;
    let [step, to_step] = [input.strides()[inner], out.strides()[inner]];
    let steps = [cosines.strides(), sines.strides()];
    for [first, to_first, row] in Walk::over(&heads, [Place::of(&input), Place::of(out), row])? {
        let position = span.start + row.min(span.last);
        for pair in 0..pairs {
            let angle = |table: usize| tables[table].get(position * steps[table][0] + pair * steps[table][1]).raise();
            let elements = if interleaved { [2 * pair, 2 * pair + 1] } else { [pair, pair + pairs] };
            let [left, right] = elements.map(|element| from.get(first + element * step).raise());
            let turned = [left * angle(0) - right * angle(1), right * angle(0) + left * angle(1)];
            elements
                .into_iter()
                .zip(turned)
                .for_each(|(element, turned)| to.set(to_first + element * to_step, T::lower(turned)));
        }
        (2 * pairs..depth).for_each(|element| to.set(to_first + element * to_step, from.get(first + element * step)));
    }
    Ok(())
}

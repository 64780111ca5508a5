//! Operators that map each element by itself.

use et_core::{Args, Element, Error, Result, ScalarType, Tensor};

use super::convert::{is_mixed, reading, writing};
use super::place::Place;
use super::walk::Walk;
use crate::Meta;
use crate::simd::HOSTED;

/// The shape rule of operators whose only output has the dtype and shape of the first argument.
pub fn like_first(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let first = args.tensor(0)?;
    Ok(Meta { scalar_type: first.scalar_type(), shape: first.shape() })
}

/// The shape rule of operators whose only output is boolean and has the shape of the first argument.
pub fn boolean(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    Ok(Meta { scalar_type: ScalarType::Bool, ..like_first(args, index)? })
}

/// Stores `f` of each element of `input` in `out`, which takes the shape of `input`.
pub fn map<A: Element, R: Element>(input: &Tensor<'_>, out: &Tensor<'_>, f: impl Fn(A) -> R) -> Result<()> {
    // Bare metal has no room to look twice.
    let in_step = HOSTED && input.lies_like(out);
    if !in_step {
        out.resize(&input.shape())?;
    }
    let (from, to) = (input.input::<A>()?, out.output::<R>()?);
    if in_step || input.dims() == out.dims() {
        // This comparison of lengths spares a bounds check per element.
        let from = from.window(0, to.len());
        (0..to.len()).for_each(|index| to.set(index, f(from.get(index))));
    } else {
        Walk::over(&input.shape(), [Place::of(input), Place::of(out)])?
            .for_each(|[from_at, to_at]| to.set(to_at, f(from.get(from_at))));
    }
    Ok(())
}

/// As [`map`], where elements are converted to `C` before and to the type of `out` after; `D` are the types that the two
/// may have.
pub fn convert<C: Element, R: Element, const D: u32>(
    input: &Tensor<'_>,
    out: &Tensor<'_>,
    f: impl Fn(C) -> R,
) -> Result<()> {
    if (input.scalar_type(), out.scalar_type()) == (C::TYPE, R::TYPE) {
        map(input, out, f)
    } else if const { is_mixed(D) } {
        map_mixed::<C, R, D>(input, out, f)
    } else {
        Err(Error::InvalidType)
    }
}

fn map_mixed<C: Element, R: Element, const D: u32>(
    input: &Tensor<'_>,
    out: &Tensor<'_>,
    f: impl Fn(C) -> R,
) -> Result<()> {
    let shape = input.shape();
    out.resize(&shape)?;
    reading::<C, D>(input, &mut |load| {
        writing::<R, D>(out, &mut |store| {
            Walk::over(&shape, [Place::of(input), Place::of(out)])?
                .for_each(|[from_at, to_at]| store(to_at, f(load(from_at))));
            Ok(())
        })
    })
}

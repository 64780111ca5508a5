//! Operators that map each element by itself.

use et_core::{Args, Element, Error, ROW_MAJOR, Result, ScalarType, Tensor};

use super::convert::{has_own_loops, is_mixed, reading, writing};
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
    if const { has_own_loops(A::TYPE) } {
        map_elements(input, out, f)
    } else {
        map_elements::<A, R>(input, out, &f as &dyn Fn(A) -> R)
    }
}

fn map_elements<A: Element, R: Element>(input: &Tensor<'_>, out: &Tensor<'_>, f: impl Fn(A) -> R) -> Result<()> {
    let in_step = fit(input, out)?;
    let (from, to) = (input.input::<A>()?, out.output::<R>()?);
    if in_step {
        // This comparison of lengths spares a bounds check per element.
        let from = from.window(0, to.len());
        for index in 0..to.len() {
            to.set(index, f(from.get(index)));
        }
    } else {
        walk(input, out)?.for_each(|[from_at, to_at]| to.set(to_at, f(from.get(from_at))));
    }
    Ok(())
}

/// Gives `out` the shape of `input`. Returns whether corresponding elements lie at equal offsets in both tensors.
fn fit(input: &Tensor<'_>, out: &Tensor<'_>) -> Result<bool> {
    // Bare metal has no room to look twice.
    if HOSTED && input.lies_like(out) {
        return Ok(true);
    }
    out.settle(|| Ok(input.shape()))?;
    Ok(ROW_MAJOR || input.dims() == out.dims())
}

fn walk(input: &Tensor<'_>, out: &Tensor<'_>) -> Result<Walk<2>> {
    Walk::over(&input.shape(), [Place::of(input), Place::of(out)])
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
        map_mixed::<C, R, D>(input, out, &f)
    } else {
        Err(Error::InvalidType)
    }
}

/// The function is a trait object, because each element is read and stored through trait objects anyway: one function per pair
/// of types serves all operators.
fn map_mixed<C: Element, R: Element, const D: u32>(
    input: &Tensor<'_>,
    out: &Tensor<'_>,
    f: &dyn Fn(C) -> R,
) -> Result<()> {
    out.settle(|| Ok(input.shape()))?;
    reading::<C, D>(input, &mut |load| {
        writing::<R, D>(out, &mut |store| {
            walk(input, out)?.for_each(|[from_at, to_at]| store(to_at, f(load(from_at))));
            Ok(())
        })
    })
}

//! Operators that map each element by itself.

use et_core::{Args, Element, Result, Tensor};

use super::walk::Walk;
use crate::Meta;

/// The rule of operators whose one output is like their first argument.
pub fn like_first(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let first = args.tensor(0)?;
    Ok(Meta { scalar_type: first.scalar_type(), shape: first.shape() })
}

/// Stores `f` of each element of `input` in `out`, which takes the shape of `input`.
pub fn map<A: Element, R: Element>(input: &Tensor<'_>, out: &Tensor<'_>, f: impl Fn(A) -> R) -> Result<()> {
    out.resize(&input.shape())?;
    let (from, to) = (input.input::<A>()?, out.output::<R>()?);
    if input.dim_order() == out.dim_order() {
        from.iter().enumerate().for_each(|(index, element)| to.set(index, f(element)));
    } else {
        Walk::new(&input.shape(), [input, out])?.for_each(|[from_at, to_at]| to.set(to_at, f(from.get(from_at))));
    }
    Ok(())
}

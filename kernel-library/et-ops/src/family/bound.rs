//! Elements kept between two bounds.

use et_core::{Error, Number, Result, Scalar};

/// The bounds as elements. An absent bound becomes the end of the dtype's range, as does a bound beyond the range of an
/// integer dtype that excludes no element. A bound that no element can meet is refused, as in PyTorch.
pub fn bounds<T: Number>(low: Option<Scalar>, high: Option<Scalar>) -> Result<[T; 2]> {
    let low = low.filter(|low| T::TYPE.is_float() || low.to_i64() >= T::LOWEST.to_i64());
    let high = high.filter(|high| T::TYPE.is_float() || high.to_i64() <= T::HIGHEST.to_i64());
    Ok([low.map_or(Ok(T::LOWEST), element)?, high.map_or(Ok(T::HIGHEST), element)?])
}

fn element<T: Number>(bound: Scalar) -> Result<T> {
    let element = bound.cast::<T>();
    let fits = T::TYPE.is_float() || element.to_i64() == bound.to_i64();
    if fits { Ok(element) } else { Err(Error::InvalidArgument) }
}

/// Clamps `element` to the bounds; the upper bound wins if the bounds cross. A NaN element stays NaN, and a NaN bound
/// wins.
pub fn bound<T: Number>(element: T, [low, high]: [T; 2]) -> T {
    let raised = if element < low || low.is_nan() { low } else { element };
    if raised > high || high.is_nan() { high } else { raised }
}

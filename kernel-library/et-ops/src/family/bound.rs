//! Elements kept between two bounds.

use et_core::{Error, Number, Result, Scalar};

/// The bounds as elements; an absent one, and one beyond the range of an integer type that holds back nothing, is the end
/// of the range. A bound that no element can meet is refused, as by PyTorch.
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

/// `element`, or the bound that it passes; the upper one where they cross. NaN stays, and a bound that is NaN wins.
pub fn bound<T: Number>(element: T, [low, high]: [T; 2]) -> T {
    let raised = if element < low || low.is_nan() { low } else { element };
    if raised > high || high.is_nan() { high } else { raised }
}

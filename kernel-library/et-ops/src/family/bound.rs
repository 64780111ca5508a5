//! Elements kept between two bounds.

use et_core::Number;

/// `element`, or the bound that it passes; the upper one where they cross. NaN stays, and a bound that is NaN wins.
pub fn bound<T: Number>(element: T, low: T, high: T) -> T {
    let raised = if element < low || low.is_nan() { low } else { element };
    if raised > high || high.is_nan() { high } else { raised }
}

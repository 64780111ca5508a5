//! What every kernel asks of its arguments.

use et_core::{Error, Result};

/// An error unless the condition holds.
pub fn ensure(condition: bool) -> Result<()> {
    if condition { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// The product of sizes, unless it is too large to count.
pub fn product(sizes: &[usize]) -> Result<usize> {
    sizes.iter().try_fold(1_usize, |product, size| product.checked_mul(*size)).ok_or(Error::InvalidArgument)
}

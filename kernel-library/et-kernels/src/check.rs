//! Argument validation shared by the kernels.

use et_core::{Error, Result};

/// Fails unless the condition holds.
pub fn ensure(condition: bool) -> Result<()> {
    if condition { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// The product of sizes; fails on overflow.
pub fn product(sizes: &[usize]) -> Result<usize> {
    sizes.iter().try_fold(1_usize, |product, size| product.checked_mul(*size)).ok_or(Error::InvalidArgument)
}

//! Logical operators: a number is true if it is not 0; NaN is true.

use et_core::{Args, Result};

use crate::family::binary;

/// The kernel of two tensors of any types: arguments `self, other, out`.
pub fn tensors<const D: u32>(args: &Args<'_, '_>, f: impl Fn(bool, bool) -> bool) -> Result<()> {
    let (left, right, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    binary::zip::<bool, bool, D>([&left, &right, &out], f)
}

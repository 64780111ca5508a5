//! Shifts of the bits of integers. Booleans are shifted as integers only, as in PyTorch.

use et_core::{Args, Error, Result, ScalarType};

use super::{binary, bitwise};
use crate::Meta;

/// The rule of two tensors.
pub fn promoted(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    refuse_booleans(binary::promoted(args, index)?)
}

/// The rule of a tensor and a number.
pub fn promoted_with_scalar(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    refuse_booleans(binary::promoted_with_scalar(args, index)?)
}

fn refuse_booleans(meta: Meta) -> Result<Meta> {
    if meta.scalar_type == ScalarType::Bool { Err(Error::InvalidType) } else { Ok(meta) }
}

/// The kernel of two tensors: arguments `self, other, out`.
pub fn tensors<const D: u32>(args: &Args<'_, '_>, shift: impl Fn(i64, i64) -> i64) -> Result<()> {
    promoted(args, 0)?;
    bitwise::tensors::<D>(args, shift)
}

/// The kernel of a tensor and a number: arguments `self, other, out`.
pub fn with_scalar<const D: u32>(args: &Args<'_, '_>, shift: impl Fn(i64, i64) -> i64) -> Result<()> {
    promoted_with_scalar(args, 0)?;
    bitwise::with_scalar::<D>(args, shift)
}

/// Bits that leave the type are lost, so a shift by as many bits as it has or more leaves 0; so does a negative one.
pub fn left(number: i64, bits: i64) -> i64 {
    if (0..64).contains(&bits) { number << bits } else { 0 }
}

/// Copies of the sign move in. A shift by as many bits as the type has or more, or by a negative number, leaves only them.
pub fn right(number: i64, bits: i64) -> i64 {
    number >> if (0..64).contains(&bits) { bits } else { 63 }
}

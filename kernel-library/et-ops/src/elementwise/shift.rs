//! Shifts of the bits of integers. Booleans are shifted as integers only, as in PyTorch.

use et_core::{Args, Error, Result, ScalarType};

use crate::Meta;
use crate::elementwise::bitwise;
use crate::family::binary;

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

/// Shifts left; overflowing bits are dropped. A shift by at least the bit width, or by a negative number, gives 0.
pub fn left(number: i64, bits: i64) -> i64 {
    if (0..64).contains(&bits) { number << bits } else { 0 }
}

/// Arithmetic shift right. A shift by at least the bit width, or by a negative number, gives copies of the sign bit.
pub fn right(number: i64, bits: i64) -> i64 {
    number >> if (0..64).contains(&bits) { bits } else { 63 }
}

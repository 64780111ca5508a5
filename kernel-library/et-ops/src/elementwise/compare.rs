//! Comparisons: pairs of elements to booleans by their order, which NaN does not have.

use core::cmp::Ordering;

use et_core::{Args, Result};

use crate::family::{binary, unary};
use crate::operator::dispatch;

/// The orders of two elements for which a comparison is true. A value rather than a closure, so that all comparisons
/// share the compiled loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders(u8);

impl Orders {
    /// The left element is less.
    pub const LESS: Self = Self(1);
    /// The elements are equal.
    pub const EQUAL: Self = Self(2);
    /// The left element is greater.
    pub const GREATER: Self = Self(4);
    /// One of the elements is NaN.
    const NONE: Self = Self(8);

    /// The orders of both sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The orders outside the set.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self(!self.0)
    }

    #[inline]
    fn contain<T: PartialOrd>(self, left: T, right: T) -> bool {
        let order = match left.partial_cmp(&right) {
            Some(Ordering::Less) => Self::LESS,
            Some(Ordering::Equal) => Self::EQUAL,
            Some(Ordering::Greater) => Self::GREATER,
            None => Self::NONE,
        };
        self.0 & order.0 != 0
    }
}

/// The kernel of two tensors: arguments `self, other, out`.
pub fn tensors<const D: u32>(args: &Args<'_, '_>, orders: Orders) -> Result<()> {
    let (left, right, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    dispatch!(D, binary::promote(&left, &right), all, T => {
        binary::zip::<T, bool, D>([&left, &right, &out], |left, right| orders.contain(left, right))
    })
}

/// The kernel of a tensor and a number: arguments `self, other, out`.
pub fn with_scalar<const D: u32>(args: &Args<'_, '_>, orders: Orders) -> Result<()> {
    let (input, scalar, out) = (args.tensor(0)?, args.scalar(1)?, args.tensor(2)?);
    dispatch!(D, scalar.promote(input.scalar_type()), all, T => {
        let right = scalar.cast::<T>();
        unary::convert::<T, bool, D>(&input, &out, |left| orders.contain(left, right))
    })
}

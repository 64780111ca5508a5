//! What the vectors of all processors have in common: an operator is an intrinsic function.

/// Implements operators of `core::ops` for a vector by functions of `core::arch`.
macro_rules! operators {
    ($type:ident, $($operator:ident $method:ident $function:ident),*) => { $(
        impl core::ops::$operator for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: a vector exists only where the processor has the instructions.
                Self(unsafe { $function(self.0, other.0) })
            }
        }
    )* };
}

/// Methods that are one function of `core::arch` of `self`, and of another vector if there is one.
macro_rules! methods {
    ($($method:ident($($other:ident)?) = $function:ident),* $(,)?) => { $(
        #[inline(always)]
        fn $method(self $(, $other: Self)?) -> Self {
            // SAFETY: a vector exists only where the processor has the instructions.
            Self(unsafe { $function(self.0 $(, $other.0)?) })
        }
    )* };
}

pub(crate) use {methods, operators};

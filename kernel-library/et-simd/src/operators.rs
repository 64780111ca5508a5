//! Macros shared by the vector types: each operator is an intrinsic.

/// Implements operators of `core::ops` for a vector by intrinsics of `core::arch`.
macro_rules! operators {
    ($type:ident, $($operator:ident $method:ident $function:ident),*) => { $(
        impl core::ops::$operator for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: a vector exists only if the CPU has the ISA.
                Self(unsafe { $function(self.0, other.0) })
            }
        }
    )* };
}

/// Methods that call a single intrinsic of `core::arch` on `self` and at most another vector.
macro_rules! methods {
    ($($method:ident($($other:ident)?) = $function:ident),* $(,)?) => { $(
        #[inline(always)]
        fn $method(self $(, $other: Self)?) -> Self {
            // SAFETY: a vector exists only if the CPU has the ISA.
            Self(unsafe { $function(self.0 $(, $other.0)?) })
        }
    )* };
}

pub(crate) use {methods, operators};

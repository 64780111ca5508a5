//! Macros of the vector types: operators and methods that are expressions of intrinsics.

/// Implements operators of `core::ops` for a vector by intrinsics of `core::arch`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32"))]
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

/// Inlined functions whose results are expressions of intrinsics of `core::arch`, all safe or all unsafe. A safe function
/// has a parameter that proves the ISA: a token or a vector, which exist only if the CPU has the ISA.
macro_rules! intrinsics {
    ($($(#[$doc:meta])* fn $name:ident($($parameters:tt)*) $(-> $result:ty)? = $value:expr;)*) => { $(
        $(#[$doc])*
        #[inline(always)]
        fn $name($($parameters)*) $(-> $result)? {
            // SAFETY: a parameter proves that the CPU has the ISA; memory is not accessed.
            unsafe { $value }
        }
    )* };
    ($(
        $(#[$doc:meta])*
        $visibility:vis unsafe fn $name:ident $(<const $count:ident: usize>)? ($($parameters:tt)*) $(-> $result:ty)? = $value:expr;
    )*) => { $(
        $(#[$doc])*
        #[inline(always)]
        $visibility unsafe fn $name $(<const $count: usize>)? ($($parameters)*) $(-> $result)? {
            // SAFETY: the caller guarantees the ISA, by a token or by contract, and valid pointers.
            unsafe { $value }
        }
    )* };
}

pub(crate) use intrinsics;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32"))]
pub(crate) use operators;

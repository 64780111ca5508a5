//! What work on vectors is written in.

/// `L` numbers that are computed on at once, each by itself.
pub trait Vector<const L: usize>: Copy {
    /// The same number in all lanes.
    fn splat(number: f32) -> Self;
    /// One number for each lane.
    fn load(numbers: &[f32; L]) -> Self;
    /// The number of each lane.
    fn store(self, numbers: &mut [f32; L]);
    /// `self + left * right`, where the product is rounded first.
    fn plus_product(self, left: Self, right: Self) -> Self;
}

/// Work on vectors. All that it calls on the way to them has to be inlined, or it is not compiled for their instructions.
pub trait Work {
    /// Does the work in vectors of `L` numbers. The processor has registers for `2 * R` of them and those that the
    /// work needs besides.
    fn run<V: Vector<L>, const L: usize, const R: usize>(self);
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
/// Implements [`Vector`] with functions of `core::arch`, which work wherever the type itself may be used.
macro_rules! vector {
    ($type:ty, $lanes:literal, $splat:ident, $add:ident, $multiply:ident) => {
        impl crate::simd::Vector<$lanes> for $type {
            #[inline(always)]
            fn splat(number: f32) -> Self {
                // SAFETY: work in these vectors runs only where the processor has them.
                unsafe { $splat(number) }
            }
            #[inline(always)]
            fn load(numbers: &[f32; $lanes]) -> Self {
                // SAFETY: both are as many numbers in the same order, and all bits are valid.
                unsafe { core::mem::transmute::<[f32; $lanes], Self>(*numbers) }
            }
            #[inline(always)]
            fn store(self, numbers: &mut [f32; $lanes]) {
                // SAFETY: both are as many numbers in the same order, and all bits are valid.
                *numbers = unsafe { core::mem::transmute::<Self, [f32; $lanes]>(self) };
            }
            #[inline(always)]
            fn plus_product(self, left: Self, right: Self) -> Self {
                // SAFETY: work in these vectors runs only where the processor has them.
                unsafe { $add(self, $multiply(left, right)) }
            }
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use vector;

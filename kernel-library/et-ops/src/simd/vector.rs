//! The interface of SIMD work: vectors, and functions generic over vectors.

/// `L` numbers that are computed on at once, each by itself.
pub trait Vector<const L: usize>: Copy {
    /// Broadcasts a number to all lanes.
    fn splat(number: f32) -> Self;
    /// A vector with a number for each lane.
    fn load(numbers: &[f32; L]) -> Self;
    /// The number of each lane.
    fn store(self, numbers: &mut [f32; L]);
    /// `self + left * right`, where the product is rounded first.
    fn plus_product(self, left: Self, right: Self) -> Self;
}

/// SIMD work. Every function between [`Work::run`] and the vector operations must be inlined, or it is compiled without
/// the vector instructions.
pub trait Work {
    /// Does the work in vectors of `L` lanes. The processor has registers for `2 * R` vectors of accumulators, besides
    /// the registers for operands.
    fn run<V: Vector<L>, const L: usize, const R: usize>(self);
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", all(target_arch = "wasm32", target_feature = "simd128")))]
/// Implements [`Vector`] with functions of `core::arch`, which are available on every target that has the vector type.
macro_rules! vector {
    ($type:ty, $lanes:literal, $splat:ident, $add:ident, $multiply:ident) => {
        impl crate::simd::Vector<$lanes> for $type {
            #[inline(always)]
            fn splat(number: f32) -> Self {
                // SAFETY: [`Work`] runs with this vector type only on processors that have its instruction set.
                unsafe { $splat(number) }
            }
            #[inline(always)]
            fn load(numbers: &[f32; $lanes]) -> Self {
                // SAFETY: array and vector have the same size and element order, and every bit pattern is valid for
                // both types.
                unsafe { core::mem::transmute::<[f32; $lanes], Self>(*numbers) }
            }
            #[inline(always)]
            fn store(self, numbers: &mut [f32; $lanes]) {
                // SAFETY: array and vector have the same size and element order, and every bit pattern is valid for
                // both types.
                *numbers = unsafe { core::mem::transmute::<Self, [f32; $lanes]>(self) };
            }
            #[inline(always)]
            fn plus_product(self, left: Self, right: Self) -> Self {
                // SAFETY: [`Work`] runs with this vector type only on processors that have its instruction set.
                unsafe { $add(self, $multiply(left, right)) }
            }
        }
    };
}
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(crate) use vector;

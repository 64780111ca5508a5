//! int8 dot products with int32 accumulators, several int8 per lane.
#![allow(unsafe_code)] // Reads through pointers.

#[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
use crate::Portable;
use crate::{Integer, Level, Simd, Work};

/// A kernel generic over the int8 dot product, like [`Work`].
pub trait DotWork {
    /// The result of the kernel.
    type Output;
    /// Runs the kernel with the given dot product.
    fn run<D: Dot>(self, dot: D) -> Self::Output;
}

/// An int8 dot product per lane. Each lane holds a sliding window of the last [`Dot::TAPS`] int8 inputs; `shift_in`
/// pushes new inputs.
pub trait Dot: Copy {
    /// The ISA of the instruction.
    type Isa: Simd;
    /// int8 products per lane: 1, 2 (`vpmaddwd`) or 4 (`vpdpbusd`).
    const TAPS: usize;

    /// The ISA token.
    fn isa(self) -> Self::Isa;
    /// Drops the oldest `N` int8 of each lane and appends the int8 at each of the `N` pointers, a lane per consecutive
    /// address.
    ///
    /// # Safety
    /// Each pointer is valid for reads of [`Simd::LANES`] bytes, and `N` is 1 or 2, and at most [`Dot::TAPS`].
    unsafe fn shift_in<const N: usize>(self, bytes: Bytes<Self>, from: [*const i8; N]) -> Bytes<Self>;
    /// Prepares the int8 of [`Dot::shift_in`] as the second operand of the dot product.
    fn second_factor(self, bytes: Bytes<Self>) -> Bytes<Self>;
    /// Accumulates the dot product of each lane. The first operand may carry a constant offset (128 for VNNI), whose
    /// contribution depends on the second operand alone.
    fn add_products(self, sum: Bytes<Self>, first: Bytes<Self>, second: Bytes<Self>) -> Bytes<Self>;
}

/// The packed int8, or the int32 accumulator, of each lane.
pub type Bytes<D> = <<D as Dot>::Isa as Simd>::I32;

/// An int8 dot product that this CPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dots {
    /// One int8 per lane, widened to 32 bits.
    #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    Portable,
    /// One int8 per lane, widened to 32 bits.
    #[cfg(target_arch = "aarch64")]
    Neon(crate::Neon),
    /// Two int8 per lane, widened to 16 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2(crate::x86_64::dot::Avx2Pairs),
    /// Four int8 per lane.
    #[cfg(target_arch = "x86_64")]
    AvxVnni(crate::x86_64::dot::AvxVnni),
    /// Two int8 per lane, widened to 16 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512(crate::x86_64::dot::Avx512Pairs),
    /// Four int8 per lane.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni(crate::x86_64::dot::Avx512Vnni),
}

impl Dots {
    /// The dot products of an ISA that this CPU has, slowest first.
    pub fn available(level: Level) -> impl Iterator<Item = Self> {
        let (always, faster) = Self::of(level);
        core::iter::once(always).chain(faster)
    }

    /// The fastest dot product of an ISA on this CPU.
    pub fn fastest(level: Level) -> Self {
        let (always, faster) = Self::of(level);
        faster.unwrap_or(always)
    }

    /// The baseline dot product of an ISA, and the VNNI variant if this CPU has VNNI.
    fn of(level: Level) -> (Self, Option<Self>) {
        match level {
            #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
            Level::Portable => (Self::Portable, None),
            #[cfg(target_arch = "aarch64")]
            Level::Neon(isa) => (Self::Neon(isa), None),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(isa) => {
                use crate::x86_64::dot::{Avx2Pairs, AvxVnni};
                (Self::Avx2(Avx2Pairs(isa)), AvxVnni::detect(isa).map(Self::AvxVnni))
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(isa) => {
                use crate::x86_64::dot::{Avx512Pairs, Avx512Vnni};
                (Self::Avx512(Avx512Pairs(isa)), Avx512Vnni::detect(isa).map(Self::Avx512Vnni))
            }
        }
    }

    /// Runs a kernel with this dot product.
    #[inline]
    pub fn run<W: DotWork>(self, work: W) -> W::Output {
        match self {
            #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
            Self::Portable => Portable.vectorize(WithSingles(work)),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(isa) => isa.vectorize(WithSingles(work)),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(dot) => dot.vectorize(work),
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni(dot) => dot.vectorize(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(dot) => dot.vectorize(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni(dot) => dot.vectorize(work),
        }
    }
}

/// Runs a kernel with the fallback dot product of an ISA.
struct WithSingles<W>(W);

impl<W: DotWork> Work for WithSingles<W> {
    type Output = W::Output;
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) -> W::Output {
        self.0.run(Singles(isa))
    }
}

/// The fallback: one int8 per lane.
#[derive(Clone, Copy, Debug)]
struct Singles<S>(S);

impl<S: Simd> Dot for Singles<S> {
    type Isa = S;
    const TAPS: usize = 1;

    #[inline(always)]
    fn isa(self) -> S {
        self.0
    }
    #[inline(always)]
    unsafe fn shift_in<const N: usize>(self, bytes: S::I32, from: [*const i8; N]) -> S::I32 {
        // SAFETY: the caller guarantees that each pointer is valid for a vector of int8.
        from.last().map_or(
            bytes,
            #[inline(always)]
            |from| unsafe { self.0.read_i8(*from) },
        )
    }
    #[inline(always)]
    fn second_factor(self, bytes: S::I32) -> S::I32 {
        bytes.words()
    }
    #[inline(always)]
    fn add_products(self, sum: S::I32, first: S::I32, second: S::I32) -> S::I32 {
        sum + first.mul_words(second)
    }
}

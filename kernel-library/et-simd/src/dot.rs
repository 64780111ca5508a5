//! Sums of products of bytes, several bytes in each lane.
#![allow(unsafe_code)] // Reads through pointers.

#[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
use crate::Portable;
use crate::{Integer, Isa, Level, Work};

/// Work on sums of products of bytes, as [`Work`].
pub trait DotWork {
    /// What the work results in.
    type Output;
    /// Does the work with the given instructions.
    fn run<D: Dot>(self, dot: D) -> Self::Output;
}

/// Instructions that multiply bytes and add up the products. Bytes enter a vector one for each lane, after those that
/// were there before, so that a lane has the last [`Dot::TAPS`] of them.
pub trait Dot: Copy {
    /// The instruction set that they belong to.
    type Isa: Isa;
    /// How many bytes a lane has.
    const TAPS: usize;

    /// The instruction set.
    fn isa(self) -> Self::Isa;
    /// Drops the first `N` bytes of each lane, and appends as many, one of each place.
    ///
    /// # Safety
    /// Places are valid for reads of [`Isa::LANES`] bytes, and `N` is 1 or 2, and at most [`Dot::TAPS`].
    unsafe fn shift_in<const N: usize>(self, bytes: Bytes<Self>, from: [*const i8; N]) -> Bytes<Self>;
    /// Bytes of [`Dot::shift_in`], prepared to be the second factor.
    fn second_factor(self, bytes: Bytes<Self>) -> Bytes<Self>;
    /// The sum, and the products of a lane's bytes, the first ones plus an offset: a constant, so that what it adds to sums
    /// is the same whatever the bytes are.
    fn add_products(self, sum: Bytes<Self>, first: Bytes<Self>, second: Bytes<Self>) -> Bytes<Self>;
}

/// The bytes, or the sum, of each lane.
pub type Bytes<D> = <<D as Dot>::Isa as Isa>::I32;

/// Instructions for sums of products of bytes that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dots {
    /// A byte in each lane, as an integer.
    #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    Portable,
    /// A byte in each lane, as an integer.
    #[cfg(target_arch = "aarch64")]
    Neon(crate::Neon),
    /// Two bytes in each lane, as words.
    #[cfg(target_arch = "x86_64")]
    Avx2(crate::x86_64::dot::Avx2Pairs),
    /// Four bytes in each lane.
    #[cfg(target_arch = "x86_64")]
    AvxVnni(crate::x86_64::dot::AvxVnni),
    /// Two bytes in each lane, as words.
    #[cfg(target_arch = "x86_64")]
    Avx512(crate::x86_64::dot::Avx512Pairs),
    /// Four bytes in each lane.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni(crate::x86_64::dot::Avx512Vnni),
}

impl Dots {
    /// Those of an instruction set that this processor has, the slowest first.
    pub fn available(level: Level) -> impl Iterator<Item = Self> {
        let (always, faster) = Self::of(level);
        core::iter::once(always).chain(faster)
    }

    /// The fastest of an instruction set.
    pub fn fastest(level: Level) -> Self {
        let (always, faster) = Self::of(level);
        faster.unwrap_or(always)
    }

    /// Those that an instruction set has always, and faster ones if this processor has them.
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

    /// Does the work with these.
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

/// Does the work with the instructions that any instruction set has.
struct WithSingles<W>(W);

impl<W: DotWork> Work for WithSingles<W> {
    type Output = W::Output;
    #[inline(always)]
    fn run<S: Isa>(self, isa: S) -> W::Output {
        self.0.run(Singles(isa))
    }
}

/// A byte in each lane.
#[derive(Clone, Copy, Debug)]
struct Singles<S>(S);

impl<S: Isa> Dot for Singles<S> {
    type Isa = S;
    const TAPS: usize = 1;

    #[inline(always)]
    fn isa(self) -> S {
        self.0
    }
    #[inline(always)]
    unsafe fn shift_in<const N: usize>(self, bytes: S::I32, from: [*const i8; N]) -> S::I32 {
        // SAFETY: the caller vouches for the bytes.
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

//! The choice of an instruction set.

#[cfg(target_arch = "aarch64")]
use crate::Neon;
#[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
use crate::Portable;
#[cfg(target_arch = "x86_64")]
use crate::{Avx2, Avx512};
use crate::{Isa, Work};

/// An instruction set that this processor has. Without feature `portable` none stands for processors that lack the vectors
/// that programs are made for: every kernel is compiled for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The language's own instructions.
    #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    Portable,
    /// Advanced SIMD.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Level {
    /// The fastest instruction set that this processor has, if any. Fast itself, after the first time.
    pub fn detect() -> Option<Self> {
        Self::available().last()
    }

    /// All instruction sets that this processor has, the slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        let known = [
            #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
            Some(Self::Portable),
            #[cfg(target_arch = "aarch64")]
            Neon::detect().map(Self::Neon),
            #[cfg(target_arch = "x86_64")]
            Avx2::detect().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            Avx512::detect().map(Self::Avx512),
        ];
        known.into_iter().flatten()
    }

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
            Self::Portable => Portable::NAME,
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => Neon::NAME,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => Avx2::NAME,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => Avx512::NAME,
        }
    }

    /// How many numbers of 32 bits are in a vector.
    pub const fn lanes(self) -> usize {
        match self {
            #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
            Self::Portable => Portable::LANES,
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => Neon::LANES,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => Avx2::LANES,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => Avx512::LANES,
        }
    }

    /// Does the work with this instruction set.
    #[inline]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        match self {
            #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
            Self::Portable => Portable.vectorize(work),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(isa) => isa.vectorize(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(isa) => isa.vectorize(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(isa) => isa.vectorize(work),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_is_the_last_that_there_is() {
        assert_eq!(Level::available().next(), Some(Level::Portable));
        assert_eq!(Level::available().last(), Level::detect());
    }
}

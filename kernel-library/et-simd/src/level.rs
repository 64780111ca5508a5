//! Run-time selection of the ISA.

#[cfg(target_arch = "aarch64")]
use crate::Neon;
#[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
use crate::Portable;
#[cfg(target_arch = "x86_64")]
use crate::{Avx2, Avx512};
use crate::{Simd, Work};

/// An ISA that this CPU has. Every kernel is compiled per variant, so that `Portable` is a variant only with the
/// feature `portable` or on architectures without SIMD support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Portable Rust without intrinsics.
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
    /// The fastest ISA of this CPU, if any. Detection is cached after the first call.
    pub fn detect() -> Option<Self> {
        Self::available().last()
    }

    /// The ISAs of this CPU, slowest first.
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

    /// The display name.
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

    /// 32-bit lanes per vector.
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

    /// Runs a kernel on this ISA.
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

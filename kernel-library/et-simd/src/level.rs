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

/// The value for the token of a level's ISA.
macro_rules! for_isa {
    ($level:expr, |$isa:ident| $value:expr) => {
        match $level {
            #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
            Self::Portable => {
                let $isa = Portable;
                $value
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon($isa) => $value,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2($isa) => $value,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512($isa) => $value,
        }
    };
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
    pub fn name(self) -> &'static str {
        const fn name<S: Simd>(_: S) -> &'static str {
            S::NAME
        }
        for_isa!(self, |isa| name(isa))
    }

    /// 32-bit lanes per vector.
    pub fn lanes(self) -> usize {
        const fn lanes<S: Simd>(_: S) -> usize {
            S::LANES
        }
        for_isa!(self, |isa| lanes(isa))
    }

    /// Runs a kernel on this ISA.
    #[inline]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        for_isa!(self, |isa| isa.vectorize(work))
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

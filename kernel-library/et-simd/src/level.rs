//! Run-time selection of the ISA of a kernel.

#[cfg(target_arch = "aarch64")]
use crate::Neon;
#[cfg(any(
    feature = "portable",
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32"))
))]
use crate::Portable;
#[cfg(target_arch = "wasm32")]
use crate::Simd128;
#[cfg(target_arch = "x86_64")]
use crate::{Avx2, Avx512, Avx512Vnni, AvxVnni};
use crate::{Dot, DotWork, Isa, Simd, Work};

/// An ISA that this CPU has. Every kernel is compiled per variant, so that `Portable` is a variant only with the
/// feature `portable` or on architectures without SIMD support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Portable Rust without intrinsics.
    #[cfg(any(
        feature = "portable",
        not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32"))
    ))]
    Portable,
    /// Advanced SIMD.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    /// WebAssembly's vectors.
    #[cfg(target_arch = "wasm32")]
    Simd128(Simd128),
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
            #[cfg(any(
                feature = "portable",
                not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32"))
            ))]
            Level::Portable => {
                let $isa = Portable;
                $value
            }
            #[cfg(target_arch = "aarch64")]
            Level::Neon($isa) => $value,
            #[cfg(target_arch = "wasm32")]
            Level::Simd128($isa) => $value,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2($isa) => $value,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512($isa) => $value,
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
            #[cfg(any(
                feature = "portable",
                not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32"))
            ))]
            Some(Self::Portable),
            #[cfg(target_arch = "aarch64")]
            token(Isa::Neon).map(Self::Neon),
            #[cfg(target_arch = "wasm32")]
            token(Isa::Simd128).map(Self::Simd128),
            #[cfg(target_arch = "x86_64")]
            token(Isa::Avx2).map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            token(Isa::Avx512).map(Self::Avx512),
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

/// The token of an ISA, if this CPU has the ISA.
#[allow(unsafe_code, reason = "the token is proof of the ISA")]
fn token<S: Simd>(isa: Isa) -> Option<S> {
    // SAFETY: the CPU has the ISA; each caller names the ISA of the token.
    isa.is_available().then(|| unsafe { S::assume() })
}

/// An int8 dot product of an ISA that this CPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dots {
    level: Level,
    /// Whether instructions of an extension (VNNI) are used, if this CPU has the extension.
    is_extended: bool,
}

impl Dots {
    /// The dot products of an ISA, slowest first: without and with extensions.
    pub fn available(level: Level) -> impl Iterator<Item = Self> {
        [false, true].into_iter().map(move |is_extended| Self { level, is_extended })
    }

    /// The fastest dot product of an ISA on this CPU.
    pub const fn fastest(level: Level) -> Self {
        Self { level, is_extended: true }
    }

    /// Runs a kernel with this dot product.
    #[inline]
    pub fn run<W: DotWork>(self, work: W) -> W::Output {
        #[cfg(target_arch = "x86_64")]
        match self.level {
            Level::Avx2(isa) if self.is_extended => {
                if let Some(dot) = AvxVnni::detect(isa) {
                    return dot.compile(work);
                }
            }
            Level::Avx512(isa) if self.is_extended => {
                if let Some(dot) = Avx512Vnni::detect(isa) {
                    return dot.compile(work);
                }
            }
            _ => {}
        }
        for_isa!(self.level, |isa| isa.compile(work))
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

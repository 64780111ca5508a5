//! The instruction sets (ISAs) of the kernels, and detection on this CPU.

use crate::detect;

/// An instruction set. The order is by preference: of two available ISAs, the later is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// Plain code for any processor.
    Portable,
    /// x86-64 with AVX2, FMA, F16C, BMI and POPCNT.
    Avx2,
    /// AVX2 with int8 dot products (AVX-VNNI).
    AvxVnni,
    /// AVX-512 F, BW, DQ, VL.
    Avx512,
    /// AVX-512 with int8 dot products (VNNI).
    Avx512Vnni,
    /// AVX-512 VNNI with tiles of bytes (AMX-INT8).
    Amx,
    /// AArch64 with Advanced SIMD.
    Neon,
    /// Advanced SIMD with int8 dot products (dotprod).
    NeonDot,
    /// Advanced SIMD with int8 matrix multiplication (i8mm).
    NeonI8mm,
}

impl Isa {
    /// Every instruction set, in order of preference.
    pub const ALL: [Self; 9] = [
        Self::Portable,
        Self::Avx2,
        Self::AvxVnni,
        Self::Avx512,
        Self::Avx512Vnni,
        Self::Amx,
        Self::Neon,
        Self::NeonDot,
        Self::NeonI8mm,
    ];

    /// The stable name in artifacts and recipes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::AvxVnni => "avx-vnni",
            Self::Avx512 => "avx512",
            Self::Avx512Vnni => "avx512-vnni",
            Self::Amx => "amx",
            Self::Neon => "neon",
            Self::NeonDot => "neon-dotprod",
            Self::NeonI8mm => "neon-i8mm",
        }
    }

    /// The architecture of the CPUs with the ISA.
    pub const fn architecture(self) -> Architecture {
        match self {
            Self::Portable => Architecture::Portable,
            Self::Avx2 | Self::AvxVnni | Self::Avx512 | Self::Avx512Vnni | Self::Amx => Architecture::X86_64,
            Self::Neon | Self::NeonDot | Self::NeonI8mm => Architecture::Aarch64,
        }
    }

    /// The ISA that this ISA extends; `None` for the baseline of an architecture.
    pub const fn base(self) -> Option<Self> {
        match self {
            Self::Portable | Self::Avx2 | Self::Neon => None,
            Self::AvxVnni | Self::Avx512 => Some(Self::Avx2),
            Self::Avx512Vnni => Some(Self::Avx512),
            Self::Amx => Some(Self::Avx512Vnni),
            Self::NeonDot => Some(Self::Neon),
            Self::NeonI8mm => Some(Self::NeonDot),
        }
    }

    /// This ISA and the ISAs that this ISA extends, from the newest on.
    pub fn with_bases(self) -> impl Iterator<Item = Self> {
        core::iter::successors(Some(self), |isa| isa.base())
    }

    /// The instruction set of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|isa| isa.name() == name)
    }

    /// Whether this CPU has the ISA and the operating system saves the registers of the ISA. Detected at run time; on
    /// AArch64 without the feature `std`, only the target features of the build count.
    pub fn is_available(self) -> bool {
        detect::has(self)
    }

    /// The best instruction set that this processor has.
    pub fn detect() -> Self {
        Self::ALL.into_iter().rev().find(|isa| isa.is_available()).unwrap_or(Self::Portable)
    }
}

/// A processor architecture. All ISAs of an architecture read the same packed weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Architecture {
    /// Any processor.
    Portable,
    /// x86-64.
    X86_64,
    /// AArch64.
    Aarch64,
}

impl Architecture {
    /// Every architecture.
    pub const ALL: [Self; 3] = [Self::Portable, Self::X86_64, Self::Aarch64];

    /// The stable number in artifacts.
    pub const fn number(self) -> u32 {
        match self {
            Self::Portable => 0,
            Self::X86_64 => 1,
            Self::Aarch64 => 2,
        }
    }

    /// The architecture of a number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|architecture| architecture.number() == number)
    }

    /// The name in target triples, or `portable`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// The architecture of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|architecture| architecture.name() == name)
    }

    /// The ISA that every supported CPU of the architecture has.
    pub const fn baseline(self) -> Isa {
        match self {
            Self::Portable => Isa::Portable,
            Self::X86_64 => Isa::Avx2,
            Self::Aarch64 => Isa::Neon,
        }
    }

    /// The ISAs of the architecture, in order of preference.
    pub fn isas(self) -> impl DoubleEndedIterator<Item = Isa> {
        Isa::ALL.into_iter().filter(move |isa| isa.architecture() == self)
    }

    /// The best ISA of the architecture that this CPU has.
    pub fn detect(self) -> Option<Isa> {
        self.isas().rev().find(|isa| isa.is_available())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for isa in Isa::ALL {
            assert_eq!(Isa::from_name(isa.name()), Some(isa));
        }
        for architecture in Architecture::ALL {
            assert_eq!(Architecture::from_name(architecture.name()), Some(architecture));
            assert_eq!(Architecture::from_number(architecture.number()), Some(architecture));
        }
    }

    #[test]
    fn an_isa_extends_the_baseline_of_its_architecture() {
        for isa in Isa::ALL {
            assert_eq!(isa.with_bases().last(), Some(isa.architecture().baseline()));
            assert!(isa.with_bases().all(|base| base.architecture() == isa.architecture() && base <= isa));
            assert!(!isa.is_available() || isa.with_bases().all(Isa::is_available));
        }
    }

    #[test]
    fn what_is_detected_is_available() {
        assert!(Isa::detect().is_available());
    }
}

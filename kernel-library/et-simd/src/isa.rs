//! The instruction sets (ISAs) of the kernels, and their architectures.

/// Declares the ISAs in order of preference, each with its name, its architecture and the ISA that it extends.
macro_rules! isas {
    ($($(#[$doc:meta])* $isa:ident = $name:literal, $architecture:ident, $base:expr;)*) => {
        /// An instruction set. The order is by preference: of two available ISAs, the later is faster.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Isa { $($(#[$doc])* $isa,)* }

        impl Isa {
            /// Every instruction set, in order of preference.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$isa),*];

            /// The stable name in artifacts and recipes.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$isa => $name,)* }
            }

            /// The architecture of the CPUs with the ISA.
            pub const fn architecture(self) -> Architecture {
                match self { $(Self::$isa => Architecture::$architecture,)* }
            }

            /// The ISA that this ISA extends; `None` for the baseline of an architecture.
            pub const fn base(self) -> Option<Self> {
                match self { $(Self::$isa => $base,)* }
            }
        }
    };
}

isas! {
    /// Plain code for any processor.
    Portable = "portable", Portable, None;
    /// x86-64 with AVX2, FMA, F16C, BMI and POPCNT.
    Avx2 = "avx2", X86_64, None;
    /// AVX2 with int8 dot products (AVX-VNNI).
    AvxVnni = "avx-vnni", X86_64, Some(Self::Avx2);
    /// AVX-512 F, BW, DQ, VL.
    Avx512 = "avx512", X86_64, Some(Self::Avx2);
    /// AVX-512 with int8 dot products (VNNI).
    Avx512Vnni = "avx512-vnni", X86_64, Some(Self::Avx512);
    /// AVX-512 VNNI with tiles of bytes (AMX-INT8).
    Amx = "amx", X86_64, Some(Self::Avx512Vnni);
    /// AArch64 with Advanced SIMD.
    Neon = "neon", Aarch64, None;
    /// Advanced SIMD with int8 dot products (dotprod).
    NeonDot = "neon-dotprod", Aarch64, Some(Self::Neon);
    /// Advanced SIMD with int8 matrix multiplication (i8mm).
    NeonI8mm = "neon-i8mm", Aarch64, Some(Self::NeonDot);
    /// WebAssembly with vectors of 128 bits.
    Simd128 = "simd128", Wasm32, None;
}

impl Isa {
    /// This ISA and the ISAs that this ISA extends, from the newest on.
    pub fn with_bases(self) -> impl Iterator<Item = Self> {
        core::iter::successors(Some(self), |isa| isa.base())
    }

    /// The instruction set of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|isa| isa.name() == name)
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
    /// WebAssembly with addresses of 32 bits.
    Wasm32,
}

impl Architecture {
    /// Every architecture.
    pub const ALL: [Self; 4] = [Self::Portable, Self::X86_64, Self::Aarch64, Self::Wasm32];

    /// The stable number in artifacts.
    pub const fn number(self) -> u32 {
        match self {
            Self::Portable => 0,
            Self::X86_64 => 1,
            Self::Aarch64 => 2,
            Self::Wasm32 => 3,
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
            Self::Wasm32 => "wasm32",
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
            Self::Wasm32 => Isa::Simd128,
        }
    }

    /// The ISAs of the architecture, in order of preference.
    pub fn isas(self) -> impl DoubleEndedIterator<Item = Isa> {
        Isa::ALL.into_iter().filter(move |isa| isa.architecture() == self)
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

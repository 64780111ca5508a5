//! CPU feature detection: `cpuid` on x86-64; on AArch64 the operating system with the feature `std`, otherwise the
//! target features of the build, as for WebAssembly, which an engine checks before the first instruction.

use crate::{Architecture, Isa};

impl Isa {
    /// Whether this CPU has the ISA and the operating system saves the registers of the ISA. Detected at run time; on
    /// AArch64 without the feature `std`, only the target features of the build count.
    pub fn is_available(self) -> bool {
        has(self)
    }

    /// The best instruction set that this processor has.
    pub fn detect() -> Self {
        Self::ALL.into_iter().rev().find(|isa| isa.is_available()).unwrap_or(Self::Portable)
    }
}

impl Architecture {
    /// The best ISA of the architecture that this CPU has.
    pub fn detect(self) -> Option<Isa> {
        self.isas().rev().find(|isa| isa.is_available())
    }
}

/// Whether this CPU has the ISA.
#[cfg(target_arch = "x86_64")]
fn has(isa: Isa) -> bool {
    let known = isa == Isa::Portable || x86_64::features() & x86_64::bit(isa) != 0;
    known && (isa != Isa::Amx || x86_64::tiles_are_permitted())
}

/// Whether this CPU has the ISA.
#[cfg(target_arch = "aarch64")]
fn has(isa: Isa) -> bool {
    #[cfg(feature = "std")]
    use std::arch::is_aarch64_feature_detected as has;
    #[cfg(not(feature = "std"))]
    macro_rules! has {
        ($feature:tt) => {
            cfg!(target_feature = $feature)
        };
    }
    match isa {
        Isa::Portable => true,
        Isa::Neon => has!("neon"),
        Isa::NeonDot => has!("neon") && has!("dotprod"),
        Isa::NeonI8mm => has(Isa::NeonDot) && has!("i8mm"),
        _ => false,
    }
}

/// Whether the build has the ISA.
#[cfg(target_arch = "wasm32")]
fn has(isa: Isa) -> bool {
    isa == Isa::Portable || (isa == Isa::Simd128 && cfg!(target_feature = "simd128"))
}

/// Whether this CPU has the ISA.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32")))]
fn has(isa: Isa) -> bool {
    isa == Isa::Portable
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    #![allow(unsafe_code)] // Asks the processor and the operating system.
    #![allow(unused_unsafe)] // Asking is safe as of Rust 1.94.

    use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
    use core::sync::atomic::{AtomicU8, AtomicU16, Ordering};

    use crate::Isa;

    /// Set in [`features`], so that the set is never 0.
    const KNOWN: u16 = 1 << 15;

    /// The bit of an ISA in [`features`].
    pub const fn bit(isa: Isa) -> u16 {
        1 << isa as u16
    }

    /// The ISAs of the CPU. Cached, because `cpuid` takes as long as a thousand additions.
    pub fn features() -> u16 {
        static FEATURES: AtomicU16 = AtomicU16::new(0);
        let known = FEATURES.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let features = KNOWN | ask();
        FEATURES.store(features, Ordering::Relaxed);
        features
    }

    /// "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 1, chapters 14.3, 15.2 and 18.2: the CPU
    /// has the instructions, and the operating system saves the registers.
    fn ask() -> u16 {
        const FMA_POPCNT_SAVES_AVX_F16C: u32 = 1 << 12 | 1 << 23 | 1 << 27 | 1 << 28 | 1 << 29;
        const BMI1_AVX2_BMI2: u32 = 1 << 3 | 1 << 5 | 1 << 8;
        const F_DQ_BW_VL: u32 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
        const TILES_OF_BYTES: u32 = 1 << 24 | 1 << 25;
        const AVX_REGISTERS: u64 = 0b110;
        const AVX512_REGISTERS: u64 = 0b1110_0110;
        const TILE_REGISTERS: u64 = 0b11 << 17;
        let has = |set: u32, bits: u32| set & bits == bits;
        // SAFETY: every x86-64 CPU has `cpuid`.
        let (leaves, first) = unsafe { (__cpuid(0).eax, __cpuid(1).ecx) };
        if leaves < 7 || !has(first, FMA_POPCNT_SAVES_AVX_F16C) {
            return 0;
        }
        // SAFETY: as above; the OSXSAVE bit says that the operating system enabled `xgetbv`.
        let (seventh, kept) = unsafe { (__cpuid_count(7, 0), xgetbv()) };
        // SAFETY: as above; `cpuid` returns 0 for unknown subleaves.
        let more = if seventh.eax == 0 { 0 } else { unsafe { __cpuid_count(7, 1).eax } };
        let saves = |registers: u64| kept & registers == registers;
        let avx2 = has(seventh.ebx, BMI1_AVX2_BMI2) && saves(AVX_REGISTERS);
        let avx512 = avx2 && has(seventh.ebx, F_DQ_BW_VL) && saves(AVX512_REGISTERS);
        let vnni = avx512 && has(seventh.ecx, 1 << 11);
        let found = [
            (Isa::Avx2, avx2),
            (Isa::AvxVnni, avx2 && has(more, 1 << 4)),
            (Isa::Avx512, avx512),
            (Isa::Avx512Vnni, vnni),
            (Isa::Amx, vnni && has(seventh.edx, TILES_OF_BYTES) && saves(TILE_REGISTERS)),
        ];
        found.into_iter().filter(|(_, has)| *has).fold(0, |set, (isa, _)| set | bit(isa))
    }

    /// The register state that the operating system saves (XCR0).
    #[target_feature(enable = "xsave")]
    fn xgetbv() -> u64 {
        // SAFETY: XCR0 exists on every CPU with `xgetbv`.
        unsafe { _xgetbv(0) }
    }

    /// Whether the operating system lets this process use the tile registers of AMX. The process asks once.
    pub fn tiles_are_permitted() -> bool {
        const NO: u8 = 1;
        const YES: u8 = 2;
        static PERMITTED: AtomicU8 = AtomicU8::new(0);
        let known = PERMITTED.load(Ordering::Relaxed);
        if known != 0 {
            return known == YES;
        }
        let permitted = request_tiles();
        PERMITTED.store(if permitted { YES } else { NO }, Ordering::Relaxed);
        permitted
    }

    /// Requests the tile registers from Linux: `arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`.
    #[cfg(target_os = "linux")]
    fn request_tiles() -> bool {
        let mut result: isize = 158;
        // SAFETY: the system call reads no memory, and the clobbered registers `rcx` and `r11` are declared.
        unsafe {
            core::arch::asm!(
                "syscall",
                inout("rax") result,
                in("rdi") 0x1023,
                in("rsi") 18,
                out("rcx") _,
                out("r11") _,
                options(nostack)
            );
        }
        result == 0
    }

    #[cfg(not(target_os = "linux"))]
    fn request_tiles() -> bool {
        false
    }
}

//! CPU feature detection by `cpuid`.
#![allow(unsafe_code)] // Asks the processor.
#![allow(unused_unsafe)] // Asking is safe as of Rust 1.94.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

/// AVX2, FMA and fp16 conversion (F16C).
pub const AVX2: u8 = 1;
/// AVX-512 F, BW, DQ and VL.
pub const AVX512: u8 = 2;
/// AVX-VNNI (int8 dot products), with [`AVX2`].
pub const AVX_VNNI: u8 = 8;
/// AVX-512 VNNI (int8 dot products), with [`AVX512`].
pub const AVX512_VNNI: u8 = 16;

const UNKNOWN: u8 = 128;

/// The set of the feature bits above. Cached, because `cpuid` takes as long as a thousand additions.
pub fn features() -> u8 {
    static FEATURES: AtomicU8 = AtomicU8::new(UNKNOWN);
    let known = FEATURES.load(Ordering::Relaxed);
    if known != UNKNOWN {
        return known;
    }
    let features = ask();
    FEATURES.store(features, Ordering::Relaxed);
    features
}

/// "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 1, chapters 14.3 and 15.2: the CPU has the
/// instructions, and the operating system saves the registers.
fn ask() -> u8 {
    const FMA_AND_SAVES: u32 = 1 << 12 | 1 << 27;
    const AVX_REGISTERS: u64 = 0b110;
    const AVX512_REGISTERS: u64 = 0b1110_0110;
    const F_DQ_BW_VL: u32 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
    // SAFETY: every x86-64 CPU has `cpuid`.
    let (leaves, first) = unsafe { (__cpuid(0).eax, __cpuid(1).ecx) };
    if leaves < 7 || first & FMA_AND_SAVES != FMA_AND_SAVES {
        return 0;
    }
    // SAFETY: as above; the OSXSAVE bit says that the operating system enabled `xgetbv`.
    let (has, kept) = unsafe { (__cpuid_count(7, 0), xgetbv()) };
    if has.ebx & 1 << 5 == 0 || kept & AVX_REGISTERS != AVX_REGISTERS {
        return 0;
    }
    let bit = |set: u32, bit: u32, feature: u8| if set & 1 << bit == 0 { 0 } else { feature };
    // SAFETY: as above; `cpuid` returns 0 for unknown subleaves.
    let more = if has.eax == 0 { 0 } else { unsafe { __cpuid_count(7, 1).eax } };
    let eight_lanes = AVX2 | bit(more, 4, AVX_VNNI);
    if has.ebx & F_DQ_BW_VL != F_DQ_BW_VL || kept & AVX512_REGISTERS != AVX512_REGISTERS {
        return eight_lanes;
    }
    eight_lanes | AVX512 | bit(has.ecx, 11, AVX512_VNNI)
}

/// The register state that the operating system saves (XCR0).
#[target_feature(enable = "xsave")]
fn xgetbv() -> u64 {
    // SAFETY: XCR0 exists on every CPU with `xgetbv`.
    unsafe { _xgetbv(0) }
}

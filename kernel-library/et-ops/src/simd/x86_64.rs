//! SSE2, which every 64-bit x86 processor has, and AVX2 and AVX-512, which are detected at run time.
#![allow(unsafe_code)] // Calls functions of `core::arch`, and functions compiled for more than the target has.

use core::arch::x86_64::{
    __cpuid, __cpuid_count, __m128, __m256, __m512, _mm_add_ps, _mm_mul_ps, _mm_set1_ps, _mm256_add_ps, _mm256_mul_ps,
    _mm256_set1_ps, _mm512_add_ps, _mm512_mul_ps, _mm512_set1_ps, _xgetbv,
};
use core::sync::atomic::{AtomicU8, Ordering};

use super::Work;
use super::vector::vector;

vector!(__m128, 4, _mm_set1_ps, _mm_add_ps, _mm_mul_ps);
vector!(__m256, 8, _mm256_set1_ps, _mm256_add_ps, _mm256_mul_ps);
vector!(__m512, 16, _mm512_set1_ps, _mm512_add_ps, _mm512_mul_ps);

/// Does the work with the widest vectors that the processor and the system have.
pub fn run(work: impl Work) {
    match level() {
        // SAFETY: `level` reports that the processor has AVX-512 and that the operating system saves its registers.
        AVX_512 => unsafe { run_avx512(work) },
        // SAFETY: `level` reports that the processor has AVX2 and that the operating system saves its registers.
        AVX_2 => unsafe { run_avx2(work) },
        _ => work.run::<__m128, 4, 4>(),
    }
}

/// 24 of 32 registers hold accumulators.
#[target_feature(enable = "avx512f")]
fn run_avx512(work: impl Work) {
    work.run::<__m512, 16, 12>();
}

/// 12 of 16 registers hold accumulators.
#[target_feature(enable = "avx2")]
fn run_avx2(work: impl Work) {
    work.run::<__m256, 8, 6>();
}

const UNKNOWN: u8 = 0;
const SSE_2: u8 = 1;
const AVX_2: u8 = 2;
const AVX_512: u8 = 3;

/// The instruction set of the processor, detected once: detection takes as long as a thousand additions.
fn level() -> u8 {
    static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);
    let known = LEVEL.load(Ordering::Relaxed);
    if known != UNKNOWN {
        return known;
    }
    let level = detected();
    LEVEL.store(level, Ordering::Relaxed);
    level
}

/// Detects the instruction set: the processor has the instructions, and the operating system saves the registers.
/// Source: "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 1, chapters 14.3 and 15.2.
#[allow(unused_unsafe)] // Asking is safe as of Rust 1.94 or so.
fn detected() -> u8 {
    const SAVES: u32 = 1 << 27;
    const AVX_REGISTERS: u64 = 0b110;
    const AVX_512_REGISTERS: u64 = 0b1110_0110;
    // SAFETY: every 64-bit x86 processor has the `cpuid` instruction.
    let (leaves, saves) = unsafe { (__cpuid(0).eax, __cpuid(1).ecx & SAVES != 0) };
    if leaves < 7 || !saves {
        return SSE_2;
    }
    // SAFETY: `cpuid` as above; the operating system has enabled `xsave` (the `SAVES` bit), so the processor has
    // `xgetbv`.
    let (has, kept) = unsafe { (__cpuid_count(7, 0).ebx, _xgetbv(0)) };
    let is_kept = |registers| kept & registers == registers;
    match (has & 1 << 16 != 0, has & 1 << 5 != 0) {
        (true, _) if is_kept(AVX_512_REGISTERS) => AVX_512,
        (_, true) if is_kept(AVX_REGISTERS) => AVX_2,
        _ => SSE_2,
    }
}

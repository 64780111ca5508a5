//! Peak throughput of register-only instruction loops.

use crate::least;
use et_gemm::Isa;

/// Peak `f32` operations per second (a multiply-add counts as two).
pub fn float(isa: Isa) -> f64 {
    #[cfg(target_arch = "x86_64")]
    match isa {
        Isa::Avx512 | Isa::Avx512Vnni | Isa::Amx => {
            return rate(24 * 32, |steps| {
                // SAFETY: only instruction sets that this processor has are measured.
                unsafe { x86::fma512(steps) }
            });
        }
        Isa::Avx2 | Isa::AvxVnni => {
            return rate(12 * 16, |steps| {
                // SAFETY: only instruction sets that this processor has are measured.
                unsafe { x86::fma256(steps) }
            });
        }
        _ => {}
    }
    let _ = isa;
    f64::NAN
}

/// Peak int8 operations per second.
pub fn byte(isa: Isa) -> f64 {
    #[cfg(target_arch = "x86_64")]
    match isa {
        Isa::Amx => {
            return rate(4 * 32768, |steps| {
                // SAFETY: only instruction sets that this processor has are measured.
                unsafe { x86::amx(steps) }
            });
        }
        Isa::Avx512Vnni => {
            return rate(24 * 128, |steps| {
                // SAFETY: only instruction sets that this processor has are measured.
                unsafe { x86::vnni512(steps) }
            });
        }
        Isa::Avx512 | Isa::Avx2 | Isa::AvxVnni => return 2.0 * float(Isa::Avx2),
        _ => {}
    }
    let _ = isa;
    f64::NAN
}

/// Read bandwidth of main memory in bytes per second.
pub fn reading() -> f64 {
    let words = vec![1u64; 32 << 20];
    let time = least(|| {
        let mut sums = [0u64; 16];
        for chunk in words.chunks_exact(16) {
            sums.iter_mut().zip(chunk).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
        }
        std::hint::black_box(sums);
    });
    (8 * words.len()) as f64 / time
}

fn rate(operations: usize, mut call: impl FnMut(usize)) -> f64 {
    const STEPS: usize = 100_000;
    (operations * STEPS) as f64 / least(|| call(STEPS))
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::asm;
    use std::arch::x86_64::*;
    use std::hint::black_box;

    #[target_feature(enable = "avx512f")]
    pub fn fma512(steps: usize) {
        let mut sums = [_mm512_set1_ps(0.0); 24];
        let (factor, addend) = black_box((_mm512_set1_ps(0.5), _mm512_set1_ps(0.25)));
        for _ in 0..steps {
            for sum in &mut sums {
                *sum = _mm512_fmadd_ps(*sum, factor, addend);
            }
        }
        black_box(sums);
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    pub fn vnni512(steps: usize) {
        let mut sums = [_mm512_set1_epi32(0); 24];
        let (left, right) = black_box((_mm512_set1_epi32(3), _mm512_set1_epi32(5)));
        for _ in 0..steps {
            for sum in &mut sums {
                *sum = _mm512_dpbusd_epi32(*sum, left, right);
            }
        }
        black_box(sums);
    }

    /// The tile registers hold arbitrary values: only the time counts.
    pub unsafe fn amx(steps: usize) {
        let mut configuration = [0u8; 64];
        configuration[0] = 1;
        for register in 0..8 {
            configuration[16 + 2 * register] = 64;
            configuration[48 + register] = 16;
        }
        // SAFETY: the CPU has AMX and the operating system permits this process to use AMX; only the configuration is
        // read from memory.
        unsafe {
            asm!(
                "ldtilecfg [{configuration}]",
                "2:",
                "tdpbsud tmm0, tmm4, tmm6",
                "tdpbsud tmm1, tmm4, tmm7",
                "tdpbsud tmm2, tmm5, tmm6",
                "tdpbsud tmm3, tmm5, tmm7",
                "dec {steps}",
                "jnz 2b",
                "tilerelease",
                configuration = in(reg) configuration.as_ptr(),
                steps = inout(reg) steps => _,
            );
        }
    }

    #[target_feature(enable = "avx2,fma")]
    pub fn fma256(steps: usize) {
        let mut sums = [_mm256_set1_ps(0.0); 12];
        let (factor, addend) = black_box((_mm256_set1_ps(0.5), _mm256_set1_ps(0.25)));
        for _ in 0..steps {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(*sum, factor, addend);
            }
        }
        black_box(sums);
    }
}

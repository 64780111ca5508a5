//! Peak throughput of register-only instruction loops.

use crate::least;
use et_gemm::Isa;

/// Peak `f32` operations per second (a multiply-add counts as two).
pub fn float(isa: Isa) -> f64 {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx512Vnni | Isa::Amx => rate(24 * 32, x86::fma512),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 | Isa::AvxVnni => rate(12 * 16, x86::fma256),
        _ => f64::NAN,
    }
}

/// Peak int8 operations per second.
pub fn byte(isa: Isa) -> f64 {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Amx => rate(4 * 32768, x86::amx),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512Vnni => rate(24 * 128, x86::vnni512),
        Isa::Avx512 | Isa::Avx2 | Isa::AvxVnni => 2.0 * float(Isa::Avx2),
        _ => f64::NAN,
    }
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

/// The rate of a loop with `operations` operations per step.
#[cfg(target_arch = "x86_64")]
fn rate(operations: usize, work: unsafe fn(usize)) -> f64 {
    const STEPS: usize = 100_000;
    // SAFETY: only instruction sets that this processor has are measured.
    (operations * STEPS) as f64 / least(|| unsafe { work(STEPS) })
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::asm;
    use std::arch::x86_64::*;
    use std::hint::black_box;

    /// A loop of independent multiply-adds to `$count` registers.
    macro_rules! multiply_adds {
        ($name:ident, $features:literal, $count:literal, $splat:ident, [$($value:literal)*],
            |$sum:ident, $left:ident, $right:ident| $step:expr) => {
            #[target_feature(enable = $features)]
            pub fn $name(steps: usize) {
                let mut sums = [$splat(Default::default()); $count];
                let [$left, $right] = black_box([$($splat($value)),*]);
                for _ in 0..steps {
                    for $sum in &mut sums {
                        *$sum = $step;
                    }
                }
                black_box(sums);
            }
        };
    }
    multiply_adds!(fma256, "avx2,fma", 12, _mm256_set1_ps, [0.5 0.25], |sum, factor, addend| {
        _mm256_fmadd_ps(*sum, factor, addend)
    });
    multiply_adds!(fma512, "avx512f", 24, _mm512_set1_ps, [0.5 0.25], |sum, factor, addend| {
        _mm512_fmadd_ps(*sum, factor, addend)
    });
    multiply_adds!(vnni512, "avx512f,avx512vnni", 24, _mm512_set1_epi32, [3 5], |sum, left, right| {
        _mm512_dpbusd_epi32(*sum, left, right)
    });

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
}

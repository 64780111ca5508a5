//! The square root, correctly rounded: the processor's instruction if available, else an integer root.
#![allow(unsafe_code)] // The instructions have no safe name in `core`.

/// A type with a square root.
pub trait Sqrt {
    /// The square root; NaN of negative numbers, -0 of -0.
    fn sqrt(self) -> Self;
}

impl Sqrt for f32 {
    #[cfg(target_arch = "x86_64")]
    fn sqrt(self) -> Self {
        use core::arch::x86_64::{_mm_cvtss_f32, _mm_set_ss, _mm_sqrt_ss};
        // SAFETY: every x86-64 has SSE.
        unsafe { _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(self))) }
    }

    #[cfg(target_arch = "aarch64")]
    fn sqrt(self) -> Self {
        let root;
        // SAFETY: the instruction reads and writes these registers only.
        unsafe { core::arch::asm!("fsqrt {0:s}, {1:s}", out(vreg) root, in(vreg) self, options(pure, nomem, nostack)) };
        root
    }

    #[cfg(all(target_arch = "arm", target_abi = "eabihf"))]
    fn sqrt(self) -> Self {
        let mut bits = self.to_bits();
        // SAFETY: the hard-float ABI guarantees that the processor has these instructions, and the instructions read
        // and write only the declared registers. The operand is passed in a core register, since stable Rust has no
        // floating-point register class here.
        unsafe {
            core::arch::asm!(
                "vmov s0, {0}", "vsqrt.f32 s0, s0", "vmov {0}, s0",
                inout(reg) bits, out("s0") _, options(pure, nomem, nostack),
            );
        }
        Self::from_bits(bits)
    }

    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    fn sqrt(self) -> Self {
        use core::arch::wasm32::{f32x4_extract_lane, f32x4_splat, f32x4_sqrt};
        f32x4_extract_lane::<0>(f32x4_sqrt(f32x4_splat(self)))
    }

    #[cfg(not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        all(target_arch = "wasm32", target_feature = "simd128"),
        all(target_arch = "arm", target_abi = "eabihf")
    )))]
    fn sqrt(self) -> Self {
        sqrt32(self)
    }
}

impl Sqrt for f64 {
    #[cfg(target_arch = "x86_64")]
    fn sqrt(self) -> Self {
        use core::arch::x86_64::{_mm_cvtsd_f64, _mm_set_sd, _mm_sqrt_sd};
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_cvtsd_f64(_mm_sqrt_sd(_mm_set_sd(self), _mm_set_sd(self))) }
    }

    #[cfg(target_arch = "aarch64")]
    fn sqrt(self) -> Self {
        let root;
        // SAFETY: the instruction reads and writes these registers only.
        unsafe { core::arch::asm!("fsqrt {0:d}, {1:d}", out(vreg) root, in(vreg) self, options(pure, nomem, nostack)) };
        root
    }

    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    fn sqrt(self) -> Self {
        use core::arch::wasm32::{f64x2_extract_lane, f64x2_splat, f64x2_sqrt};
        f64x2_extract_lane::<0>(f64x2_sqrt(f64x2_splat(self)))
    }

    #[cfg(not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        all(target_arch = "wasm32", target_feature = "simd128")
    )))]
    fn sqrt(self) -> Self {
        sqrt64(self)
    }
}

macro_rules! integer_root {
    ($name:ident, $type:ident, $wide:ty, $shift:literal) => {
        /// `x = m 2^k` with an even `k`; the integer root of `m` has one more bit than the fraction, and a nonzero
        /// remainder decides ties.
        #[allow(dead_code)] // Only tests call it where the processor has the instruction.
        fn $name(x: $type) -> $type {
            use super::Format;
            if x == 0.0 || x.is_nan() || x == $type::INFINITY {
                return x;
            }
            if x < 0.0 {
                return $type::NAN;
            }
            let half = if x < $type::MIN_POSITIVE { $type::FRACTION as i32 } else { 0 };
            let x = x * $type::power_of_two(2 * half);
            let (integer, exponent) = x.integer();
            let odd = exponent & 1;
            let square = <$wide>::from(integer) << ($shift + odd);
            let root = square.isqrt();
            let sticky = <$wide>::from(root * root != square);
            (2 * root + sticky) as $type
                * $type::power_of_two((exponent - odd - $shift) / 2 - 1)
                * $type::power_of_two(-half)
        }
    };
}
integer_root!(sqrt32, f32, u64, 26);
integer_root!(sqrt64, f64, u128, 56);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::test::spread;

    #[test]
    fn both_ways_agree_with_the_host_to_the_bit() {
        let special = [0.0, -0.0, f64::INFINITY, f64::from_bits(1), 1e-310, f64::MAX, f64::MIN_POSITIVE];
        for x in spread(1e-44, 1e38).into_iter().filter(|x| *x > 0.0).chain(special) {
            assert_eq!(sqrt64(x).to_bits(), x.sqrt().to_bits(), "{x}");
            assert_eq!(Sqrt::sqrt(x).to_bits(), x.sqrt().to_bits(), "{x}");
            let x = x as f32;
            assert_eq!(sqrt32(x).to_bits(), x.sqrt().to_bits(), "{x}");
            assert_eq!(Sqrt::sqrt(x).to_bits(), x.sqrt().to_bits(), "{x}");
        }
        assert!(sqrt32(-1.0).is_nan() && sqrt64(f64::NAN).is_nan());
    }
}

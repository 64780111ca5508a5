//! Vectors of an ISA, and kernels that are generic over the ISA.
#![allow(unsafe_code)] // Reads and writes through pointers, behind the safe access to slices.

use crate::operators::intrinsics;
use crate::{Float, Integer};

/// A kernel generic over the ISA. Every function and closure between `run` and the vector operations must be
/// `#[inline(always)]`, otherwise the function is compiled without the ISA's target features.
pub trait Work {
    /// The result of the kernel.
    type Output;
    /// Runs the kernel on the given ISA.
    fn run<S: Simd>(self, isa: S) -> Self::Output;
}

/// The vectors of an ISA. A value is a token: values exist only if the CPU has the ISA.
pub trait Simd: Copy + Send + Sync + core::fmt::Debug + 'static {
    /// The display name.
    const NAME: &'static str;
    /// 32-bit lanes per vector.
    const LANES: usize;
    /// Vector registers of the ISA.
    const REGISTERS: usize;
    /// A vector of `f32`.
    type F32: Float<Integer = Self::I32, Mask = Self::Mask>;
    /// A vector of `i32`.
    type I32: Integer<Float = Self::F32>;
    /// A lane mask.
    type Mask: Copy;

    /// The ISA token, without detection.
    ///
    /// # Safety
    /// The CPU has the ISA.
    unsafe fn assume() -> Self;
    /// Runs a kernel compiled with the target features of the ISA.
    fn vectorize<W: Work>(self, work: W) -> W::Output;
    /// Broadcasts an `f32`.
    fn splat(self, number: f32) -> Self::F32;
    /// Broadcasts an `i32`.
    fn splat_i32(self, number: i32) -> Self::I32;
    /// Prefetches a cache line into L2, on x86-64. Any address is allowed.
    #[inline(always)]
    fn prefetch(self, from: *const u8) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 CPU has the instruction, which accesses no memory.
        unsafe {
            core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T1 }>(from.cast());
        }
        let _ = from;
    }

    /// Prefetches `count` bytes into L1, on x86-64. Any address is allowed.
    #[inline(always)]
    fn prefetch_near(self, from: *const u8, count: usize) {
        #[cfg(target_arch = "x86_64")]
        for line in (0..count).step_by(64) {
            // SAFETY: as above.
            unsafe {
                core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(from.wrapping_add(line).cast());
            }
        }
        let _ = (from, count);
    }

    /// Loads a vector.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Simd::LANES`] `f32`.
    unsafe fn read(self, from: *const f32) -> Self::F32;
    /// Loads the first `count` lanes; the remaining lanes are 0.
    ///
    /// # Safety
    /// `from` is valid for reads of `count` `f32`, or of [`Simd::LANES`] if `count` is larger.
    unsafe fn read_part(self, from: *const f32, count: usize) -> Self::F32;
    /// Stores a vector.
    ///
    /// # Safety
    /// `to` is valid for writes of [`Simd::LANES`] `f32`.
    unsafe fn write(self, to: *mut f32, vector: Self::F32);
    /// Stores the first `count` lanes.
    ///
    /// # Safety
    /// `to` is valid for writes of `count` `f32`, or of [`Simd::LANES`] if `count` is larger.
    unsafe fn write_part(self, to: *mut f32, count: usize, vector: Self::F32);
    /// Loads a vector of `i32`.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Simd::LANES`] `i32`.
    unsafe fn read_i32(self, from: *const i32) -> Self::I32;
    /// Stores a vector of `i32`.
    ///
    /// # Safety
    /// `to` is valid for writes of [`Simd::LANES`] `i32`.
    unsafe fn write_i32(self, to: *mut i32, vector: Self::I32);
    /// Loads int8, sign-extended to a lane each.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Simd::LANES`] bytes.
    unsafe fn read_i8(self, from: *const i8) -> Self::I32;
    /// Loads u8, zero-extended to a lane each.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Simd::LANES`] bytes.
    unsafe fn read_u8(self, from: *const u8) -> Self::I32;
    /// Stores each lane as int8, saturating.
    ///
    /// # Safety
    /// `to` is valid for writes of [`Simd::LANES`] bytes.
    unsafe fn write_i8(self, to: *mut i8, vector: Self::I32);

    /// Loads finite fp16, converted to `f32`.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Simd::LANES`] fp16.
    unsafe fn read_halves(self, from: *const u16) -> Self::F32;
    /// Loads bf16, converted to `f32`.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Simd::LANES`] bf16.
    unsafe fn read_bfloats(self, from: *const u16) -> Self::F32;

    intrinsics! {
        /// Loads at most a vector, without a mask for a whole vector. Lanes from `count` on are 0.
        ///
        /// # Safety
        /// `from` is valid for reads of `count` elements, or of [`Simd::LANES`] if `count` is larger.
        unsafe fn read_some(self, from: *const f32, count: usize) -> Self::F32 =
            if count >= Self::LANES { self.read(from) } else { self.read_part(from, count) };

        /// Stores the first `count` lanes, or a vector without a mask if `count` is larger.
        ///
        /// # Safety
        /// `to` is valid for writes of `count` elements, or of [`Simd::LANES`] if `count` is larger.
        unsafe fn write_some(self, to: *mut f32, count: usize, vector: Self::F32) =
            if count >= Self::LANES { self.write(to, vector) } else { self.write_part(to, count, vector) };

        /// Loads the first `count` fp16, converted to `f32`; the remaining lanes are 0.
        ///
        /// # Safety
        /// `from` is valid for reads of `count` fp16, fewer than [`Simd::LANES`].
        unsafe fn read_halves_part(self, from: *const u16, count: usize) -> Self::F32 = {
            let mut halves = [0; MOST_LANES];
            for (lane, half) in halves.iter_mut().enumerate().take(count) {
                *half = *from.add(lane);
            }
            self.read_halves(halves.as_ptr())
        };

        /// Loads the first `count` int8, sign-extended; the remaining lanes are 0.
        ///
        /// # Safety
        /// `from` is valid for reads of `count` bytes, or of [`Simd::LANES`] if `count` is larger.
        unsafe fn read_i8_part(self, from: *const i8, count: usize) -> Self::I32 = {
            if count >= Self::LANES {
                return self.read_i8(from);
            }
            let mut bytes = [0; MOST_LANES];
            for (lane, byte) in bytes.iter_mut().enumerate().take(count) {
                *byte = *from.add(lane);
            }
            self.read_i8(bytes.as_ptr())
        };

        /// Stores the first `count` lanes as int8, saturating.
        ///
        /// # Safety
        /// `to` is valid for writes of `count` bytes, or of [`Simd::LANES`] if `count` is larger.
        unsafe fn write_i8_part(self, to: *mut i8, count: usize, vector: Self::I32) = {
            if count >= Self::LANES {
                return self.write_i8(to, vector);
            }
            let mut bytes = [0; MOST_LANES];
            self.write_i8(bytes.as_mut_ptr(), vector);
            for (lane, byte) in bytes.iter().enumerate().take(count) {
                *to.add(lane) = *byte;
            }
        };

        /// Quantizes four vectors without NaN to contiguous int8: clamps to `[least, most]`, rounds (ties to even), and adds
        /// the zero point. The bounds are integers, and within the int8 range with the zero point added.
        ///
        /// # Safety
        /// `to` is valid for writes of four times [`Simd::LANES`] bytes.
        unsafe fn quantize_four(self, values: [Self::F32; 4], zero_point: i32, bounds: [f32; 2], to: *mut i8) = {
            let zero = self.splat_i32(zero_point);
            for (index, value) in values.into_iter().enumerate() {
                let clamped = self.splat(bounds[1]).min(self.splat(bounds[0]).max(value));
                let bytes = clamped.to_integer() + zero;
                self.write_i8(to.add(index * Self::LANES), bytes);
            }
        };
    }

    /// Transposes a square tile of [`Simd::LANES`] rows, with row strides `from_step` and `to_step` in elements.
    ///
    /// # Safety
    /// The rows of `from` are valid for reads, the rows of `to` for writes, and the tiles do not overlap.
    #[inline(always)]
    unsafe fn transpose(self, from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
        for row in 0..Self::LANES {
            for column in 0..Self::LANES {
                // SAFETY: both elements are within the tiles that the caller guarantees.
                unsafe { *to.add(column * to_step + row) = *from.add(row * from_step + column) };
            }
        }
    }

    /// Loads the elements from index `at` on. Lanes past the end are 0.
    #[inline(always)]
    fn load(self, numbers: &[f32], at: usize) -> Self::F32 {
        let Some(rest) = numbers.get(at..) else { return self.splat(0.0) };
        // SAFETY: `rest` has `rest.len()` elements.
        unsafe { self.read_some(rest.as_ptr(), rest.len()) }
    }

    /// Stores the lanes from index `at` on. Lanes past the end are dropped.
    #[inline(always)]
    fn store(self, numbers: &mut [f32], at: usize, vector: Self::F32) {
        let Some(rest) = numbers.get_mut(at..) else { return };
        // SAFETY: `rest` has room for `rest.len()` elements.
        unsafe { self.write_some(rest.as_mut_ptr(), rest.len(), vector) }
    }

    /// Loads the int8 from index `at` on, sign-extended to a lane each. Lanes past the end are 0.
    #[inline(always)]
    fn load_i8(self, bytes: &[i8], at: usize) -> Self::I32 {
        let Some(rest) = bytes.get(at..) else { return self.splat_i32(0) };
        if rest.len() >= Self::LANES {
            // SAFETY: `rest` has at least `LANES` bytes.
            return unsafe { self.read_i8(rest.as_ptr()) };
        }
        // SAFETY: `rest` has `rest.len()` bytes.
        unsafe { self.read_i8_part(rest.as_ptr(), rest.len()) }
    }

    /// Stores the lanes as int8 from index `at` on, saturating. Lanes past the end are dropped.
    #[inline(always)]
    fn store_i8(self, bytes: &mut [i8], at: usize, vector: Self::I32) {
        let Some(rest) = bytes.get_mut(at..) else { return };
        if rest.len() >= Self::LANES {
            // SAFETY: `rest` has room for `LANES` bytes.
            return unsafe { self.write_i8(rest.as_mut_ptr(), vector) };
        }
        // SAFETY: `rest` has room for `rest.len()` bytes.
        unsafe { self.write_i8_part(rest.as_mut_ptr(), rest.len(), vector) }
    }
}

/// The largest number of lanes of any ISA.
pub(crate) const MOST_LANES: usize = 16;

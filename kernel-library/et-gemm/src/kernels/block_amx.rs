//! Blockwise GEMM with AMX.
//!
//! Weights are unpacked to signed int8 once for every row. The int32 accumulators of a block are stored to memory, then
//! scaled and accumulated in `f32` vectors. `tilestored` has no store forwarding, so that the loop is
//! software-pipelined: the next block is multiplied before the previous block is scaled.
#![allow(
    unsafe_code,
    reason = "instructions are written out, and rows, panels and outputs are read and written by pointer"
)]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is an inner loop under the contract of its type")]

use core::arch::asm;
use core::arch::x86_64::*;
use core::ops::Range;

use et_simd::{Avx512, Avx512Vnni, Float, Integer, Simd};

use super::block::{SETS, SIDE, TILE, Tile, depth, store};
use super::block_format::{BlockFormat, Form, Width};

/// Rows and columns of a tile register.
const REGISTER: usize = 16;

/// Scratch memory of the AMX path.
///
/// # Safety
///
/// `weights` has [`SIDE`] bytes per element of K, `sums` has [`SETS`] tiles, `totals` has a tile.
#[derive(Clone, Copy)]
pub struct Memory {
    /// The int8 weights of a panel: rows of four consecutive K elements per column.
    pub weights: *mut i8,
    /// int32 accumulators of the blocks, register by register.
    pub sums: *mut i32,
    /// `f32` accumulators over every block, in the layout of `sums`.
    pub totals: *mut f32,
}

impl Memory {
    /// The accumulators of a block: alternating buffers.
    const unsafe fn sums_of(self, group: usize) -> *mut i32 {
        self.sums.add(group % SETS * TILE)
    }
}

/// Unpacks the panel of `tile` to int8.
///
/// # Safety
///
/// The CPU has AVX-512 BW, and the contracts of [`Tile`] and [`Memory`] hold.
#[target_feature(enable = "avx512f,avx512bw")]
pub unsafe fn widen<F: Form>(tile: &Tile, memory: Memory) {
    for group in 0..tile.groups {
        let from = tile.panel.add(tile.form.elements_at(group) * SIDE);
        let to = memory.weights.add(group * tile.form.group * SIDE);
        match F::WIDTH {
            Width::Int4 => widen_int4(from, to, tile.form),
            Width::Int6 => widen_int6(from, to, tile.form),
            Width::Int8 => widen_int8(from, to, tile.form.group),
        }
    }
}

/// The int8 of a block, without their offset.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn widen_int8(from: *const u8, to: *mut i8, group: usize) {
    let offset = _mm512_set1_epi8(i8::MIN);
    for start in (0..group * SIDE).step_by(64) {
        let bytes = _mm512_loadu_si512(from.add(start).cast());
        _mm512_storeu_si512(to.add(start).cast(), _mm512_xor_si512(bytes, offset));
    }
}

/// The int4 of a block, without what packing added, as int8.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn widen_int4(mut from: *const u8, mut to: *mut i8, form: BlockFormat) {
    let (mask, zero) = (_mm512_set1_epi8(15), _mm512_set1_epi8(form.offset(0) as i8));
    for _ in 0..form.group / 8 {
        for vector in 0..2 {
            let bytes = _mm512_loadu_si512(from.add(64 * vector).cast());
            let halves = [_mm512_and_si512(bytes, mask), _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), mask)];
            for (row, half) in halves.into_iter().enumerate() {
                _mm512_storeu_si512(to.add(128 * row + 64 * vector).cast(), _mm512_sub_epi8(half, zero));
            }
        }
        (from, to) = (from.add(128), to.add(256));
    }
}

/// The int6 of a block, without what packing added, as int8.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn widen_int6(mut from: *const u8, mut to: *mut i8, form: BlockFormat) {
    let zero = _mm512_set1_epi8(form.offset(0) as i8);
    let (mask, top) = (_mm512_set1_epi8(15), _mm512_set1_epi8(0x30));
    for _ in 0..form.group / 16 {
        for vector in 0..2 {
            let row = |row: usize| _mm512_loadu_si512(from.add(128 * row + 64 * vector).cast());
            let (low, high) = ([row(0), row(1)], row(2));
            let highs =
                [_mm512_slli_epi16::<4>(high), _mm512_slli_epi16::<2>(high), high, _mm512_srli_epi16::<2>(high)];
            let halves = low.map(|low| [low, _mm512_srli_epi16::<4>(low)]);
            for (row, (half, high)) in halves.as_flattened().iter().zip(highs).enumerate() {
                let number = _mm512_or_si512(_mm512_and_si512(*half, mask), _mm512_and_si512(high, top));
                _mm512_storeu_si512(to.add(128 * row + 64 * vector).cast(), _mm512_sub_epi8(number, zero));
            }
        }
        (from, to) = (from.add(384), to.add(512));
    }
}

/// Computes [`SIDE`] rows of `tile` from the unpacked weights and stores the rows `stored`, without the activation.
///
/// # Safety
///
/// The tile registers are configured for [`depth()`] of the block size; the CPU has AVX-512 VNNI; the contract of
/// [`Tile`] holds for [`SIDE`] input rows and for the stored output rows; weights and scales have the form `F`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub unsafe fn compute<F: Form>(tile: &Tile, memory: Memory, stored: Range<usize>) {
    let isa = Avx512::assume();
    memory.totals.write_bytes(0, TILE);
    for group in 0..=tile.groups {
        if group < tile.groups {
            multiply(tile, memory, group);
        }
        if group > 0 {
            scale::<F>(tile, memory, group - 1);
        }
    }
    for row in stored {
        let total = memory.totals.add(row / REGISTER * 2 * REGISTER * REGISTER + row % REGISTER * REGISTER);
        let row = Tile {
            row_scales: tile.row_scales.wrapping_add(row),
            output: tile.output.wrapping_add(row * tile.stride),
            ..*tile
        };
        store::<Avx512Vnni, F, 1, 2>(&row, &[[isa.read(total), isa.read(total.add(REGISTER * REGISTER))]]);
    }
}

/// Scales the accumulators of a block and adds the result to the `f32` accumulators, with the offsets.
#[inline(always)]
unsafe fn scale<F: Form>(tile: &Tile, memory: Memory, group: usize) {
    let isa = Avx512::assume();
    let scales = numbers::<F>(tile, group, 0);
    let (sums, totals) = (memory.sums_of(group), memory.totals);
    for register in 0..4 {
        for row in 0..REGISTER {
            let at = (register * REGISTER + row) * REGISTER;
            let sum = isa.read_i32(sums.add(at)).to_float();
            let sum = match tile.block_scale(register / 2 * REGISTER + row, group) {
                Some(scale) => sum * isa.splat(scale),
                None => sum,
            };
            isa.write(totals.add(at), sum.mul_add(scales[register % 2], isa.read(totals.add(at))));
        }
    }
    if !tile.form.has_offsets {
        return;
    }
    let offsets = numbers::<F>(tile, group, 1);
    for register in 0..4 {
        for row in 0..REGISTER {
            let at = (register * REGISTER + row) * REGISTER;
            let sum = isa.splat(tile.real_sum(register / 2 * REGISTER + row, group));
            isa.write(totals.add(at), sum.mul_add(offsets[register % 2], isa.read(totals.add(at))));
        }
    }
}

/// The scales of a block, or the offsets, which are set 1: of the first and of the last columns.
#[inline(always)]
unsafe fn numbers<F: Form>(tile: &Tile, group: usize, set: usize) -> [<Avx512 as Simd>::F32; 2] {
    let (isa, form) = (Avx512::assume(), tile.form);
    let from = tile.panel.add((form.scale_at(group) + set * form.set()) * SIDE);
    let units = tile.panel.add((form.set_at(group) + set * form.set()) * SIDE).cast::<f32>();
    [0, REGISTER].map(|first| {
        let number = F::load(isa, from.add(F::SCALES.size() * first));
        if F::SCALES.head() == 0 { number } else { number * isa.read(units.add(first)) }
    })
}

/// Accumulates a block: registers 0 and 1 hold the columns of the first sixteen rows, 2 and 3 the columns of the last
/// sixteen.
#[inline(always)]
unsafe fn multiply(tile: &Tile, memory: Memory, group: usize) {
    let depth = depth(tile.form.group);
    let rows = tile.input.add(group * tile.form.group);
    asm!(
        "tilezero tmm0",
        "tilezero tmm1",
        "tilezero tmm2",
        "tilezero tmm3",
        "2:",
        "tileloadd tmm4, [{low} + {stride}]",
        "tileloadd tmm6, [{weights} + {line}]",
        "tdpbssd tmm0, tmm4, tmm6",
        "tileloadd tmm7, [{weights} + {line} + 64]",
        "tdpbssd tmm1, tmm4, tmm7",
        "tileloadd tmm5, [{high} + {stride}]",
        "tdpbssd tmm2, tmm5, tmm6",
        "tdpbssd tmm3, tmm5, tmm7",
        "add {low}, {depth}",
        "add {high}, {depth}",
        "add {weights}, {size}",
        "dec {steps}",
        "jnz 2b",
        "tilestored [{sums} + {row}], tmm0",
        "tilestored [{sums} + {row} + 1024], tmm1",
        "tilestored [{sums} + {row} + 2048], tmm2",
        "tilestored [{sums} + {row} + 3072], tmm3",
        low = inout(reg) rows => _,
        high = inout(reg) rows.add(REGISTER * tile.input_stride) => _,
        stride = in(reg) tile.input_stride,
        weights = inout(reg) memory.weights.add(group * tile.form.group * SIDE) => _,
        line = in(reg) 4 * SIDE,
        depth = in(reg) depth,
        size = in(reg) SIDE * depth,
        steps = inout(reg) tile.form.group / depth => _,
        sums = in(reg) memory.sums_of(group),
        row = in(reg) 4 * REGISTER,
        options(nostack)
    );
}

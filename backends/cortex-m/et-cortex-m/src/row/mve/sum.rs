//! Sums of int8 tensors, four elements at a time.

use core::arch::asm;

use super::super::Addition;

/// The constants of sums, in the order of the registers that the assembly loads.
#[repr(C)]
struct Loop {
    left: *const i8,
    right: *const i8,
    output: *mut i8,
    /// The zero points with the fractional bits.
    zeros: [i32; 2],
    multipliers: [i32; 3],
    /// Negative shifts.
    shifts: [i32; 3],
    zero: i32,
    count: usize,
    /// Masks: all bits set where the operand is divided, 0 otherwise. Offset 52.
    signs: [i32; 2],
    /// The limits of the results: 60.
    limits: [i32; 2],
}

/// The sums of all elements that `left` and `output` have; the right operand is the output without another.
pub fn add(rule: &Addition, left: &[i8], right: Option<&[i8]>, output: &mut [i8]) {
    let count = left.len().min(output.len()).min(right.map_or(usize::MAX, <[i8]>::len));
    let steps = Loop {
        left: left.as_ptr(),
        right: right.map_or(output.as_ptr(), <[i8]>::as_ptr),
        output: output.as_mut_ptr(),
        zeros: rule.zeros,
        multipliers: rule.multipliers,
        shifts: rule.shifts,
        zero: rule.zero,
        count,
        signs: rule.signs,
        limits: rule.limits,
    };
    if count > 0 {
        // SAFETY: all operands have `count` elements; an output that is an operand is read before it is written.
        unsafe { four_at_a_time(&raw const steps) }
    }
}

/// The loop over elements: 28 instructions for four.
///
/// # Safety
/// The pointers are those of `count` elements, of which there is one.
#[inline(never)]
unsafe fn four_at_a_time(steps: *const Loop) {
    // The compiler reserves r6 and r7, which are saved here. lr has the remaining elements.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            "push {{r6, r7}}",
            "ldrd r0, r1, [lr, #52]",
            "ldrd r2, r3, [lr, #60]",
            "vdup.32 q3, r0",
            "vdup.32 q4, r1",
            "vdup.32 q5, r2",
            "vdup.32 q6, r3",
            "ldm lr, {{r0-r12}}",
            "vdup.32 q7, r11",
            "dlstp.32 lr, r12",
            "2:",
            "vldrb.s32 q0, [r0], #4",
            "vldrb.s32 q1, [r1], #4",
            "vshl.i32 q0, q0, #20",
            "vshl.i32 q1, q1, #20",
            "vsub.i32 q0, q0, r3",
            "vsub.i32 q1, q1, r4",
            "vqrdmulh.s32 q0, q0, r5",
            "vqrdmulh.s32 q1, q1, r6",
            "vshr.s32 q2, q0, #31",
            "vand q2, q2, q3",
            "vadd.i32 q0, q0, q2",
            "vshr.s32 q2, q1, #31",
            "vand q2, q2, q4",
            "vadd.i32 q1, q1, q2",
            "vrshl.s32 q0, r8",
            "vrshl.s32 q1, r9",
            "vadd.i32 q0, q0, q1",
            "vqrdmulh.s32 q0, q0, r7",
            "vshr.s32 q2, q0, #31",
            "vadd.i32 q0, q0, q2",
            "vrshl.s32 q0, r10",
            "vadd.i32 q0, q0, q7",
            "vmax.s32 q0, q0, q5",
            "vmin.s32 q0, q0, q6",
            "vstrb.32 q0, [r2], #4",
            "letp lr, 2b",
            "pop {{r6, r7}}",
            inout("lr") steps => _, out("r0") _, out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("d0") _, out("d1") _, out("d2") _,
            out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _, out("d8") _, out("d9") _, out("d10") _,
            out("d11") _, out("d12") _, out("d13") _, out("d14") _, out("d15") _,
        );
    }
}

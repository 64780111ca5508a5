//! The frames of loops in assembly. The compiler reserves r6 and r7, which the frames save.

/// A loop whose state in memory, words at `$state`, is copied to `$bytes` of the stack by way of `$registers`; the word at `$count` counts the
/// rounds. The lines of a round may use all registers.
macro_rules! counted_loop {
    ($state:ident, $bytes:literal, $registers:literal, $count:literal, { $($lines:tt)* }) => {
        core::arch::asm!(
            "push {{r6, r7}}",
            concat!("sub sp, sp, #", $bytes),
            concat!("ldm r0, ", $registers),
            concat!("stm sp, ", $registers),
            "1:",
            $($lines)*
            concat!("ldr r12, [sp, #", $count, "]"),
            "subs r12, r12, #1",
            concat!("str r12, [sp, #", $count, "]"),
            "bne 1b",
            concat!("add sp, sp, #", $bytes),
            "pop {{r6, r7}}",
            inout("r0") $state => _, out("r1") _, out("r2") _, out("r3") _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    };
}

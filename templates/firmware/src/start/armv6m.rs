//! From reset to `main` on Armv6-M and the baseline of Armv8-M: 16-bit Thumb, no FPU, no limit of the stack.

core::arch::global_asm!(
    // The vector table: stack, reset, and 14 exceptions that all are faults here.
    ".section .vectors, \"a\"",
    "vectors:",
    ".word stack_top",
    ".word reset",
    ".rept 14",
    ".word fault",
    ".endr",
    // A boot ROM may have left its own vector table; a processor with a fixed one ignores the register. Then `.data` is
    // copied and `.bss` and the arenas are zeroed.
    ".section .text.reset, \"ax\"",
    ".global reset",
    ".thumb_func",
    "reset:",
    "ldr r0, =0xe000ed08", // VTOR
    "ldr r1, =vectors",
    "str r1, [r0]",
    "ldr r0, =data_start",
    "ldr r1, =data_end",
    "ldr r2, =data_load",
    "0: cmp r0, r1",
    "bhs 1f",
    "ldr r3, [r2]",
    "str r3, [r0]",
    "adds r0, #4",
    "adds r2, #4",
    "b 0b",
    "1: ldr r0, =zero_start",
    "ldr r1, =zero_end",
    "movs r2, #0",
    "2: cmp r0, r1",
    "bhs 3f",
    "str r2, [r0]",
    "adds r0, #4",
    "b 2b",
    "3: bl main",
    "udf #0",
    // After a fault the stack may be spent: start over at the top. A branch of 16 bits does not reach far.
    ".thumb_func",
    "fault:",
    "ldr r0, =stack_top",
    "mov sp, r0",
    "ldr r0, =handle_fault",
    "bx r0",
    ".ltorg",
);

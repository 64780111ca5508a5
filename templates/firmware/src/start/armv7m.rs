//! The reset handler of Armv7-M and Armv8-M with 32-bit Thumb.

core::arch::global_asm!(
    // The vector table: stack, reset, and 14 exceptions that all are faults here.
    ".section .vectors, \"a\"",
    "vectors:",
    ".word stack_top",
    ".word reset",
    ".rept 14",
    ".word fault",
    ".endr",
    // The stack limit turns an overflow into a fault, and a boot ROM may have installed its own vector table. The FPU
    // is enabled before compiled code runs; then `.data` is copied, and `.bss` and the arenas are zeroed.
    ".section .text.reset, \"ax\"",
    ".global reset",
    ".thumb_func",
    "reset:",
    "ldr r0, =stack_limit",
    "msr msplim, r0",
    "ldr r0, =0xe000ed08", // VTOR
    "ldr r1, =vectors",
    "str r1, [r0]",
    "ldr r0, =0xe000ed88", // CPACR
    "ldr r1, [r0]",
    "orr r1, r1, #0xf00000",
    "str r1, [r0]",
    "dsb",
    "isb",
    "ldr r0, =data_start",
    "ldr r1, =data_end",
    "ldr r2, =data_load",
    "0: cmp r0, r1",
    "itt lo",
    "ldrlo r3, [r2], #4",
    "strlo r3, [r0], #4",
    "blo 0b",
    "ldr r0, =zero_start",
    "ldr r1, =zero_end",
    "movs r2, #0",
    "1: cmp r0, r1",
    "it lo",
    "strlo r2, [r0], #4",
    "blo 1b",
    "bl main",
    "udf #0",
    // After an overflow the fault handler has no stack: it starts again at the top.
    ".thumb_func",
    "fault:",
    "ldr r0, =stack_top",
    "mov sp, r0",
    "b handle_fault",
    ".ltorg",
);

//! From reset to `main` on 32-bit RISC-V in machine mode.

core::arch::global_asm!(
    // The first instruction of the code bank is where the processor starts.
    ".section .vectors, \"ax\"",
    ".option push",
    ".option arch, +zicsr",
    ".global reset",
    "reset:",
    "la sp, stack_top",
    "la t0, fault",
    "csrw mtvec, t0",
    // The floating-point unit is enabled where there is one: mstatus.FS.
    "li t0, 0x6000",
    "csrs mstatus, t0",
    // `.data` is copied, `.bss` and the arenas are zeroed, and the stack is filled with marks, which tell later how far it was
    // used.
    "la a0, data_start",
    "la a1, data_end",
    "la a2, data_load",
    "0: bgeu a0, a1, 1f",
    "lw a3, 0(a2)",
    "sw a3, 0(a0)",
    "addi a0, a0, 4",
    "addi a2, a2, 4",
    "j 0b",
    "1: la a0, zero_start",
    "la a1, zero_end",
    "2: bgeu a0, a1, 3f",
    "sw zero, 0(a0)",
    "addi a0, a0, 4",
    "j 2b",
    "3: la a0, stack_limit",
    "li a1, 0xaaaaaaaa",
    "4: bgeu a0, sp, 5f",
    "sw a1, 0(a0)",
    "addi a0, a0, 4",
    "j 4b",
    "5: call main",
    "unimp",
    // After a fault the stack may be spent: start over at the top.
    ".balign 4",
    "fault:",
    "la sp, stack_top",
    "tail handle_fault",
    ".option pop",
);

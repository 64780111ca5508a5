//! The start of a process on Windows: the entry point.
#![allow(unsafe_code)] // A symbol that the linker looks for.

#[path = "system.rs"]
mod system;

use core::arch::global_asm;

// Rust's `main` reads the arguments from the system. A stack frame of 32 bytes for the callee is the rule of the platform.
global_asm!(
    ".globl mainCRTStartup",
    "mainCRTStartup:",
    "sub rsp, 40",
    "xor ecx, ecx",
    "xor edx, edx",
    "call main",
    "mov ecx, eax",
    "call ExitProcess",
    "int3",
    // MinGW runs the constructors of C++ here. A Rust program has no constructors.
    ".globl __main",
    "__main:",
    "ret",
);

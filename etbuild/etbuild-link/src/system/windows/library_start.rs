//! The start of a DLL on Windows: the function that the loader calls. Rust's libraries need no start.
#![allow(unsafe_code)] // A symbol that the linker looks for.

#[path = "system.rs"]
mod system;

use core::arch::global_asm;

// The loader wants a number that is not 0.
global_asm!(".globl DllMainCRTStartup", "DllMainCRTStartup:", "mov eax, 1", "ret");

//! The start of a process on Android: what the loader jumps to hands the stack and `main` to the C library.

use core::arch::global_asm;

/// The lists of functions before and after `main`. The loader calls the functions before `main`; Rust has none after `main`, so the
/// lists are empty.
#[unsafe(no_mangle)]
static DEVICE_BINARY_STRUCTORS: [usize; 8] = [0; 8];

/// The API level that the binary is built for, as the note of every Android executable states.
#[repr(C)]
struct Note {
    name_size: u32,
    description_size: u32,
    kind: u32,
    name: [u8; 8],
    api_level: u32,
}

#[used]
// SAFETY: the section holds this note alone, which is data.
#[unsafe(link_section = ".note.android.ident")]
static NOTE: Note = Note { name_size: 8, description_size: 4, kind: 1, name: *b"Android\0", api_level: 26 };

// `__libc_init(stack, unused, main, structors)` reads the arguments from the stack of the kernel and never returns.
#[cfg(target_arch = "aarch64")]
global_asm!(
    ".globl _start",
    ".hidden _start",
    ".type _start,%function",
    "_start:",
    "hint #36", // bti j
    "mov x29, #0",
    "mov x30, #0",
    "mov x0, sp",
    "mov x1, #0",
    "adrp x2, main",
    "add x2, x2, :lo12:main",
    "adrp x3, DEVICE_BINARY_STRUCTORS",
    "add x3, x3, :lo12:DEVICE_BINARY_STRUCTORS",
    "b __libc_init",
    ".size _start, . - _start",
);

#[cfg(target_arch = "x86_64")]
global_asm!(
    ".globl _start",
    ".hidden _start",
    ".type _start,@function",
    "_start:",
    "xor ebp, ebp",
    "mov rdi, rsp",
    "xor esi, esi",
    "lea rdx, [rip + main]",
    "lea rcx, [rip + DEVICE_BINARY_STRUCTORS]",
    "and rsp, -16",
    "call __libc_init@PLT",
    "ud2",
    ".size _start, . - _start",
);

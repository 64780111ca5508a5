//! The target file that `etbuild init target` writes.

use std::fmt::Write;

use etbuild_yaml::Name;

use crate::{Endian, Kind, Triple};

/// A commented target file for a machine with this triple, which parses as it is. What a triple does not say, such as the
/// memory of a board, is an example to replace.
pub fn starter(name: &Name, triple: &Triple) -> String {
    let (kind, template) = match triple.kind {
        Kind::Hosted => ("hosted", "host-app"),
        Kind::BareMetal => ("bare-metal", "firmware"),
    };
    let endian = if triple.endian == Endian::Big { "big" } else { "little" };
    let mut text = format!(
        "\
# Every key is described in docs/targets.md and by `etbuild schema target`.
etbuild: 1
name: \"{name}\"
summary: \"{name} ({triple})\"
kind: {kind}
template: {template}
pointer_width: {width}
endian: {endian}
",
        triple = triple.name,
        width = triple.pointer_width,
    );
    text.push_str(&rust(triple));
    match triple.kind {
        Kind::Hosted => text.push_str(&hosted(if triple.mentions("windows") { "exe" } else { "elf" })),
        Kind::BareMetal => text.push_str(&board(if triple.is_cortex_m() { CORTEX_M } else { RISC_V })),
    }
    text
}

/// How Rust compiles for the triple.
fn rust(triple: &Triple) -> String {
    let mut text = String::new();
    let name = &triple.name;
    let has_stubs = LINKED_WITHOUT_SYSTEM.contains(&name.as_str());
    match (triple.kind, triple.mentions("musl"), triple.mentions("android")) {
        (Kind::BareMetal, ..) => {
            text.push_str("# The processor, as `rustc --print target-cpus` names it: `cpu: cortex-m4`.\n")
        }
        (_, _, true) if !has_stubs => text.push_str(ANDROID),
        _ => {}
    }
    let _ = match (triple.kind, triple.mentions("musl"), triple.mentions("android")) {
        (Kind::BareMetal, ..) => writeln!(text, "rust: {{ triple: {name}, linker: rust-lld }}"),
        (_, true, _) => writeln!(text, "rust: {{ triple: {name}, linker: rust-lld, crt_static: true }}"),
        _ if has_stubs => writeln!(text, "rust: {{ triple: {name}, linker: rust-lld }}"),
        (.., true) => writeln!(text, "rust: {{ triple: {name}, linker: {{ compiler: {name}26-clang }} }}"),
        _ => writeln!(text, "rust: {{ triple: {name} }}"),
    };
    if !triple.instruction_sets.is_empty() {
        let _ = writeln!(text, "instruction_sets: [{}]", triple.instruction_sets.join(", "));
    }
    text
}

/// The triples that Rust's own linker links for without the libraries of the system.
const LINKED_WITHOUT_SYSTEM: [&str; 3] = ["aarch64-linux-android", "x86_64-linux-android", "x86_64-pc-windows-gnullvm"];

const ANDROID: &str = "\
# The compiler of Android's NDK links; its folder `toolchains/llvm/prebuilt/linux-x86_64/bin` must be on PATH.
";

/// The keys of a machine with an operating system, whose executables have this form.
fn hosted(image: &str) -> String {
    format!(
        "\
console: stdio
image: [{image}]
# How a binary is run: `native` on a machine of this kind, `emulator` in a program such as qemu, `none` to build only.
run: none
"
    )
}

/// Memory banks as most chips with a Cortex-M have them.
const CORTEX_M: &str = "    \
    - { name: flash, origin: 0x08000000, size: 512 KiB, access: rx }
    - { name: sram, origin: 0x20000000, size: 128 KiB, access: rw }
";

/// Memory banks as most RISC-V chips have them.
const RISC_V: &str = "    \
    - { name: flash, origin: 0x20000000, size: 4 MiB, access: rx }
    - { name: sram, origin: 0x80000000, size: 512 KiB, access: rw }
";

/// The keys of a board with these memory banks.
fn board(banks: &str) -> String {
    format!(
        "\
# From the data sheet: the banks that a program may use, and what lives in which.
memory:
  banks:
{banks}  code: flash
  constants: flash
  arena: sram
  stack: 16 KiB
# Where the report goes: `none`, `semihosting` with a debugger or emulator, or the registers of a serial port (`uart`).
console: none
image: [elf]
# How a binary is run: in an `emulator`, on a `device` that shows itself as a drive, or `none` to build only.
run: none
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Console, Run, parse_target};

    #[test]
    fn a_starter_is_a_target() {
        for triple in [
            "thumbv6m-none-eabi",
            "riscv32imc-unknown-none-elf",
            "aarch64-linux-android",
            "armv7-linux-androideabi",
            "x86_64-unknown-linux-musl",
            "aarch64-apple-darwin",
            "x86_64-pc-windows-gnullvm",
        ] {
            let triple = Triple::new(triple).unwrap();
            let target = parse_target("own.yaml", &starter(&Name::new("own").unwrap(), &triple)).unwrap();
            assert_eq!((target.name(), target.kind(), target.run()), ("own", triple.kind, &Run::None));
            assert_eq!(target.memory().is_some(), triple.kind == Kind::BareMetal);
            assert_eq!(*target.console() == Console::None, triple.kind == Kind::BareMetal);
        }
    }
}

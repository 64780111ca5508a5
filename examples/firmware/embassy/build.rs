//! Puts `memory.x` where the linker script of `cortex-m-rt` finds the file.

use std::{env, fs, path::PathBuf};

fn main() {
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::copy("memory.x", folder.join("memory.x")).expect("memory.x can be copied");
    println!("cargo::rustc-link-search={}", folder.display());
    println!("cargo::rustc-link-arg=-Tlink.x");
    println!("cargo::rustc-link-arg=--nmagic");
    println!("cargo::rerun-if-changed=memory.x");
    println!("cargo::rerun-if-env-changed=CASES");
}

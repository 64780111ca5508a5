//! Runs binaries for Android in an emulator without Android: musl's C library stands for Android's, as the loader and as the
//! library, and a small library that is loaded ahead has what musl lacks (`tests/data/bionic.rs`).

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::Ran;

/// Debian's package `musl:arm64`.
const MUSL: &str = "/lib/ld-musl-aarch64.so.1";

/// A folder with the loader at the path of Android's, and the library that is loaded ahead.
fn root() -> Option<&'static Path> {
    static ROOT: OnceLock<Option<PathBuf>> = OnceLock::new();
    ROOT.get_or_init(|| {
        if !Path::new(MUSL).is_file() {
            let required = std::env::var_os("ETBUILD_REQUIRE_EMULATORS").is_some();
            assert!(!required, "{MUSL} is missing: dpkg --add-architecture arm64, apt-get install musl:arm64");
            return None;
        }
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("android-{}", std::process::id()));
        let loader = root.join("system/bin/linker64");
        fs::create_dir_all(loader.parent().unwrap()).unwrap();
        fs::copy(MUSL, loader).unwrap();
        compile(&ahead(&root));
        Some(root)
    })
    .as_deref()
}

fn ahead(root: &Path) -> PathBuf {
    root.join("libbionic.so")
}

fn compile(library: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bionic.rs");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "--target", "aarch64-linux-android", "--crate-type", "cdylib", "-O"]);
    rustc.args(["-Cpanic=abort", "-Clinker=rust-lld", "-Cdefault-linker-libraries=no"]);
    // Musl defines the symbols when the library is loaded.
    rustc.args(["-Clink-arg=--unresolved-symbols=ignore-all", "-o"]).arg(library).arg(source);
    Ran::of(&mut rustc).expect(0);
}

/// The command that runs a binary for Android on 64-bit Arm; `None` where the tools are missing and not required.
pub fn emulated(binary: impl AsRef<OsStr>) -> Option<Command> {
    let root = root()?;
    let mut command = Command::new("qemu-aarch64");
    command.arg("-L").arg(root).arg("-E").arg(format!("LD_PRELOAD={}", ahead(root).display())).arg(binary);
    Some(command)
}

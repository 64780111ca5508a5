//! The flags of the compiler and the linker.

use std::path::{Path, PathBuf};

use crate::code::MAP;
use crate::project::LINKER_ARGUMENTS;
use crate::system::bionic;
use crate::{CompileTarget, Project, Route, SystemFiles, Toolchain};

/// The separator of `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// The compiler's flags, as `CARGO_ENCODED_RUSTFLAGS` takes them, for a project in `folder`.
/// `sources` are the folders with third-party crates.
pub fn encoded(
    toolchain: &Toolchain,
    target: &CompileTarget,
    project: &Project,
    folder: &Path,
    sources: &[PathBuf],
) -> String {
    let mut flags = vec![remap(folder, "")];
    flags.extend(sources.iter().map(|folder| remap(folder, "/crates")));
    if toolchain.route == Route::BuildStd {
        flags.push(remap(&toolchain.sysroot, "/rustc"));
    }
    flags.extend(Some(everywhere(target, project)).filter(|options| !options.is_empty()));
    flags.join(SEPARATOR)
}

/// The flags without a folder of a machine.
pub fn everywhere(target: &CompileTarget, project: &Project) -> String {
    let options = codegen_options(target).into_iter().chain(linker_options(target, project));
    options.map(|option| format!("-C{option}")).collect::<Vec<_>>().join(SEPARATOR)
}

/// Has the compiler write `to` for a folder of this machine, so that the folder's name is not in the binary.
fn remap(folder: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", folder.display())
}

fn codegen_options(target: &CompileTarget) -> Vec<String> {
    let mut options: Vec<String> = target.cpu.iter().map(|cpu| format!("target-cpu={cpu}")).collect();
    if !target.features.is_empty() {
        options.push(format!("target-feature={}", target.features.join(",")));
    }
    if target.crt_static {
        options.push("target-feature=+crt-static".to_owned());
    }
    options
}

fn linker_options(target: &CompileTarget, project: &Project) -> Vec<String> {
    if !target.has_binary() {
        return Vec::new();
    }
    let mut options = match target.linker.compiler() {
        Some(compiler) => vec![format!("linker={compiler}"), format!("link-arg=-Wl,--build-id=none,-Map={MAP}")],
        None => {
            vec!["linker=rust-lld".to_owned(), "link-arg=--build-id=none".to_owned(), format!("link-arg=-Map={MAP}")]
        }
    };
    if target.is_android() {
        options.extend(android_options(target));
    }
    if SystemFiles::of(target) == Some(SystemFiles::Windows) {
        // The time of the link would make other bytes each time. What Rust would add of MinGW is in the project.
        options.push("link-self-contained=no".to_owned());
        options.extend(["-ladvapi32", "--no-insert-timestamp"].map(|option| format!("link-arg={option}")));
    }
    if target.is_wasm() {
        // JavaScript puts texts and tensors into memory of the module.
        options.extend(["malloc", "free"].map(|name| format!("link-arg=--export-if-defined={name}")));
    }
    if target.is_wasm_with_threads() {
        options.extend(START_OF_THREADS.map(|name| format!("link-arg=--export={name}")));
        options.push(format!("link-arg=--max-memory={}", 1_u64 << 32));
    }
    // The folder of `EMPTY_LIBRARY`. A project without the library gets the flag too: projects with equal flags share compiled crates.
    if target.crt_static || SystemFiles::of(target).is_some() {
        options.push("link-arg=-L.".to_owned());
    }
    if project.package.contains_key(LINKER_SCRIPT) {
        options.push(format!("link-arg=-T{LINKER_SCRIPT}"));
    }
    options
}

/// What the start code of a library with threads does, and rustc links no start code into a library: without the first function
/// the first new thread waits for ever. `templates/web/threads.js` calls both.
const START_OF_THREADS: [&str; 2] = ["__wasi_init_tp", "__wasm_call_ctors"];

/// The options of binaries and shared libraries of Android. A binary is linked with the name of the shared library too, by which
/// a loader finds the binary itself: the flags of a project are those of all its files. The linker reads the name in a file: cargo compiles
/// every crate again for other flags, and projects with other names share the crates.
fn android_options(target: &CompileTarget) -> Vec<String> {
    let mut options = vec![format!("-zmax-page-size={}", bionic::PAGE_SIZE), format!("@{LINKER_ARGUMENTS}")];
    if SystemFiles::of(target).is_some() {
        options.push(format!("--dynamic-linker={}", bionic::LOADER));
    }
    let prefix = if target.linker.compiler().is_some() { "-Wl," } else { "" };
    options.into_iter().map(|option| format!("link-arg={prefix}{option}")).collect()
}

/// The path of a template's linker script, if any.
const LINKER_SCRIPT: &str = "link.ld";

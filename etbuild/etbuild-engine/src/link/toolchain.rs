//! Finding the Rust toolchain for a target, without starting a process when no input of the search has changed.

use std::path::PathBuf;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::{CompileTarget, LinkError, Linker, Route, Toolchain, Watched, toolchain};
use etbuild_store::Digest;
use etbuild_target::{Rust, Target};
use serde::{Deserialize, Serialize};

use super::facts;
use crate::session::{Event, World};

/// A toolchain, found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tools {
    /// The Rust target.
    pub target: CompileTarget,
    /// The compiler and the sysroot.
    pub toolchain: Toolchain,
}

/// The memo of a search: the result, and the inputs that decide whether the result still holds.
#[derive(Serialize, Deserialize)]
struct Remembered {
    built_std: bool,
    sysroot: PathBuf,
    rustc_version: String,
    linker_version: Option<String>,
    watched: Vec<(PathBuf, Option<String>)>,
}

/// The toolchain for a target, or the missing part and the way to install the part.
pub fn tools(world: &World, target: &Target) -> Result<Tools, Box<Diagnostic>> {
    tools_of(world, target.rust())
}

/// The toolchain for the options of a Rust toolchain, or the missing part and the way to install the part.
pub fn tools_of(world: &World, rust: &Rust) -> Result<Tools, Box<Diagnostic>> {
    let target = facts::compile_target(rust);
    if target.linker == Linker::System && !is_of_this_machine(&target.triple) {
        return Err(Box::new(foreign(&target.triple)));
    }
    let subject = subject(world, &target);
    let toolchain = world.toolchain(subject, || search(world, &subject, &target))?;
    Ok(Tools { target, toolchain })
}

/// Whether the machine's own C compiler makes programs for the triple.
fn is_of_this_machine(triple: &str) -> bool {
    let mut words = triple.split('-');
    words.next() == Some(std::env::consts::ARCH) && words.any(|word| word == std::env::consts::OS)
}

fn foreign(triple: &str) -> Diagnostic {
    let message = format!("this machine's C compiler does not link for `{triple}`");
    let help = "name the compiler that does in the target, such as `rust: { linker: { compiler: aarch64-linux-gnu-gcc } }` or \
        the one of Android's NDK; a static musl triple takes `linker: rust-lld`: docs/targets.md";
    Diagnostic::error(Code::ToolMissing, message).help(help)
}

fn search(world: &World, subject: &Digest, target: &CompileTarget) -> Result<Toolchain, Box<Diagnostic>> {
    if let Some(toolchain) = recall(world, subject) {
        return Ok(toolchain);
    }
    let found = toolchain::find(world.system(), target, !world.is_offline());
    let toolchain = found.map_err(|error| Box::new(missing(&error)))?;
    if toolchain.route == Route::Added {
        let sysroot = toolchain.sysroot.display();
        world.tell(&Event::Said(format!("installed Rust target {} with rustup, in {sysroot}", target.triple)));
    }
    remember(world, subject, &toolchain, target);
    Ok(toolchain)
}

fn missing(error: &LinkError) -> Diagnostic {
    let diagnostic = Diagnostic::from(error);
    match error {
        LinkError::ToolMissing { program, .. } if program == "cc" => {
            diagnostic.help("install a C compiler, which Rust links with here: `apt-get install gcc`")
        }
        LinkError::ToolMissing { program, .. } if program != "rustc" && program != "cargo" => {
            diagnostic.help("put its folder on PATH, or name another compiler in the target's `rust: { linker: ... }`")
        }
        LinkError::ToolMissing { .. } => diagnostic.help("install Rust from https://rustup.rs"),
        _ => diagnostic,
    }
}

fn recall(world: &World, subject: &Digest) -> Option<Toolchain> {
    let remembered: Remembered = serde_json::from_slice(&world.store().memo_get(subject)?).ok()?;
    let unchanged = remembered.watched.iter().all(|(path, known)| stamp(world, path) == *known);
    unchanged.then_some(Toolchain {
        route: if remembered.built_std { Route::BuildStd } else { Route::Installed },
        sysroot: remembered.sysroot,
        rustc_version: remembered.rustc_version,
        linker_version: remembered.linker_version,
    })
}

fn remember(world: &World, subject: &Digest, toolchain: &Toolchain, target: &CompileTarget) {
    let Watched { paths, .. } = toolchain.watched(world.system(), target);
    let remembered = Remembered {
        built_std: toolchain.route == Route::BuildStd,
        sysroot: toolchain.sysroot.clone(),
        rustc_version: toolchain.rustc_version.clone(),
        linker_version: toolchain.linker_version.clone(),
        watched: paths.into_iter().map(|path| (path.clone(), stamp(world, &path))).collect(),
    };
    if let Ok(bytes) = serde_json::to_vec(&remembered) {
        // Only time is lost where this fails.
        let _ = world.store().memo_put(subject, &bytes);
    }
}

/// The variables that decide which toolchain is found are part of the question; files are looked at each time.
fn subject(world: &World, target: &CompileTarget) -> Digest {
    let variables = toolchain::VARIABLES.map(|name| format!("{name}={:?}", world.system().variable(name)));
    Digest::of(format!("toolchain\0{target:?}\0{}", variables.join("\0")).as_bytes())
}

fn stamp(world: &World, path: &std::path::Path) -> Option<String> {
    world.system().stamp(path).ok().map(|stamp| format!("{stamp:?}"))
}

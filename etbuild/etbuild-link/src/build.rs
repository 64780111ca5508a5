//! Compiles and links a generated project with cargo.
//!
//! Projects that share toolchain and target share a scratch folder, so that only the package itself, and crates
//! that no program needed before, are compiled when the model changes. Files are written only where they differ, the package's own always, so cargo
//! sees every change; a lock lets one build at a time into the folder.

use std::path::PathBuf;

use etbuild_system::{Invocation, System};

use crate::code::{self, CodePart, MAP};
use crate::digest::digest;
use crate::messages::Compiled;
use crate::scratch::Scratch;
use crate::stack::StackUse;
use crate::workshop::{Workshop, removed_variables};
use crate::{
    CompileTarget, LinkError, Project, Route, SystemFiles, Toolchain, flags, messages, processor, system, third_party,
};

/// The results of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The linked file; `None` for a target without a linker.
    pub binary: Option<Vec<u8>>,
    /// The static library with a C interface, for a project with a library.
    pub library: Option<Vec<u8>>,
    /// The shared library with the same interface, for a project with one.
    pub shared: Option<Vec<u8>>,
    /// The space of the binary, by name; empty where the linker gives no map.
    pub code: Vec<CodePart>,
    /// The stack of firmware; `None` where the linker gives no map.
    pub stack: Option<StackUse>,
}

impl Built {
    /// The results with what the linker's map says of the binary.
    pub(crate) fn new(binary: Option<Vec<u8>>, library: Option<Vec<u8>>, shared: Option<Vec<u8>>, map: &[u8]) -> Self {
        let map = String::from_utf8_lossy(map);
        let stack = binary.as_deref().and_then(|binary| StackUse::of(binary, &map));
        Self { code: code::parts(&map), stack, binary, library, shared }
    }
}

/// Builds `project` in a workshop. The bytes depend only on project, target and toolchain.
///
/// # Errors
/// [`LinkError::Compile`], [`LinkError::Link`] or [`LinkError::BankTooSmall`] where the project is at fault;
/// [`LinkError::Io`] or [`LinkError::ToolMissing`] where the machine is.
pub fn build(
    system: &dyn System,
    toolchain: &Toolchain,
    target: &CompileTarget,
    project: &Project,
    workshop: &Workshop<'_>,
) -> Result<Built, LinkError> {
    build_telling(system, toolchain, target, project, workshop, &mut |_| ())
}

/// Builds like [`build`]; `told` gets each package that is compiled, and `None` where a package takes long.
///
/// # Errors
/// As of [`build`].
pub fn build_telling(
    system: &dyn System,
    toolchain: &Toolchain,
    target: &CompileTarget,
    project: &Project,
    workshop: &Workshop<'_>,
    told: &mut dyn FnMut(Option<Compiled>),
) -> Result<Built, LinkError> {
    let folder = Scratch::open(workshop.folder, &shared_name(toolchain, target, project))?;
    folder.write(system, project)?;
    let sources = third_party::fetch(system, toolchain, target, project, &folder, workshop.offline)?;
    let invocation = cargo(toolchain, target, project, &folder, &sources);
    let missing =
        |error: std::io::Error| LinkError::ToolMissing { program: "cargo".to_owned(), reason: error.to_string() };
    // Not before the folder is locked: a process that waits for the folder does not work.
    let slot = workshop.slots.take();
    let outcome = system.run_telling(&invocation, &mut |line| match line {
        Some(line) => messages::compiled(line).into_iter().for_each(|package| told(Some(package))),
        None => told(None),
    });
    let outcome = outcome.map_err(missing)?;
    drop(slot);
    let made = messages::made(&outcome).map_err(|error| match error {
        LinkError::Compile(_) => processor::mistake(system, toolchain, target).unwrap_or(error),
        error => system::explained(error, SystemFiles::of(target)),
    })?;
    let read = |path: PathBuf| system.read(&path).map_err(|source| LinkError::Io { path, source });
    let (binary, library) = (made.executable.map(read).transpose()?, made.library.map(read).transpose()?);
    let shared = made.shared.map(read).transpose()?;
    let map = system.read(&folder.project().join(MAP)).unwrap_or_default();
    Ok(Built::new(binary, library, shared, &map))
}

/// The name of the scratch folder: equal for projects that differ in their own package, and in which crates that needs. Cargo keeps a crate
/// for each set of features and each profile of a compilation.
fn shared_name(toolchain: &Toolchain, target: &CompileTarget, project: &Project) -> String {
    let sysroot = toolchain.sysroot.to_string_lossy().into_owned();
    let target = format!("{target:?}");
    let parts = [toolchain.identity(), sysroot, target, project.sources.clone()];
    digest(parts.iter().map(|part| (part, ""))).chars().take(16).collect()
}

fn cargo(
    toolchain: &Toolchain,
    target: &CompileTarget,
    project: &Project,
    folder: &Scratch,
    sources: &[PathBuf],
) -> Invocation {
    let mut invocation = Invocation::new(toolchain.cargo())
        .args(arguments(target))
        .current_dir(folder.project())
        .env("CARGO_ENCODED_RUSTFLAGS", flags::encoded(toolchain, target, project, &folder.project(), sources))
        .env("CARGO_TARGET_DIR", folder.target())
        .env("RUSTC", toolchain.rustc())
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "")
        .env("CARGO_INCREMENTAL", "0");
    invocation.removed_variables = removed_variables();
    match toolchain.route {
        // The crates were fetched just now.
        Route::Installed | Route::Added if project.third_party => invocation.arg("--offline"),
        Route::BuildStd => invocation.args(library_arguments(target)).env("RUSTC_BOOTSTRAP", "1"),
        Route::Installed | Route::Added => invocation.arg("--offline").env("CARGO_HOME", folder.cargo_home()),
    }
}

/// The arguments of cargo in every folder.
pub fn arguments(target: &CompileTarget) -> impl Iterator<Item = &str> {
    let triple = target.triple.as_str();
    ["build", "--release", "--quiet", "--message-format=json", "--target", triple, "--config", "profile.toml"]
        .into_iter()
        .chain((!target.has_binary()).then_some("--lib"))
}

/// Builds the standard library along with the project. The library's own dependencies come from the registry, or from the user's
/// cache.
fn library_arguments(target: &CompileTarget) -> [&'static str; 2] {
    if target.is_bare_metal() {
        ["-Zbuild-std=core", "-Zbuild-std-features=compiler-builtins-mem"]
    } else {
        ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features="]
    }
}

//! Finds a Rust toolchain that can build for a target.
//!
//! In this order: the toolchain that `rustc` stands for, where it has the target's standard library; the same one after
//! `rustup target add`; the same one with the library's sources, from which the library is then built; else an error
//! that says the command which helps.

use std::path::{Path, PathBuf};

use etbuild_system::{Invocation, System, host};

use crate::{CompileTarget, LinkError};

/// How a toolchain comes by the target's standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// The standard library was installed.
    Installed,
    /// `rustup target add` installed the standard library just now; tell the user.
    Added,
    /// The standard library is built from source with every binary.
    BuildStd,
}

/// A toolchain that can build for a target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Toolchain {
    /// The origin of the standard library.
    pub route: Route,
    /// The sysroot.
    pub sysroot: PathBuf,
    /// The output of `rustc -vV`.
    pub rustc_version: String,
    /// The first line of the system linker's version; `None` for the toolchain's own linker.
    pub linker_version: Option<String>,
}

/// The inputs of the search: while the inputs are unchanged, [`find`] need not be called again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Files and folders, by stamps; a missing file counts as well.
    pub paths: Vec<PathBuf>,
    /// Environment variables.
    pub variables: Vec<&'static str>,
}

impl Toolchain {
    /// The compiler.
    pub fn rustc(&self) -> PathBuf {
        host::program(self.sysroot.join("bin/rustc"))
    }

    /// The build tool.
    pub fn cargo(&self) -> PathBuf {
        host::program(self.sysroot.join("bin/cargo"))
    }

    /// LLD, which comes with the compiler.
    pub fn lld(&self) -> PathBuf {
        let host = self.rustc_version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        host::program(self.sysroot.join("lib/rustlib").join(host).join("bin/rust-lld"))
    }

    /// The toolchain in an action key: everything that can change the bytes of results, and no path.
    pub fn identity(&self) -> String {
        let library = if self.route == Route::BuildStd { "built" } else { "prebuilt" };
        let linker = self.linker_version.as_deref().unwrap_or("rust-lld");
        format!("{}library: {library}\nlinker: {linker}\n", self.rustc_version)
    }

    /// The inputs of the search for `target`.
    pub fn watched(&self, system: &dyn System, target: &CompileTarget) -> Watched {
        let mut paths = vec![self.rustc(), self.cargo(), self.library(&target.triple), self.sources()];
        paths.extend(host::in_path(system, "rustc"));
        paths.extend(rustup_home(system).map(|home| home.join("settings.toml")));
        if let Some(compiler) = target.linker.compiler() {
            paths.extend(host::in_path(system, compiler));
            paths.extend(host::in_path(system, "ld"));
        }
        Watched { paths, variables: VARIABLES.to_vec() }
    }

    fn library(&self, triple: &str) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(triple).join("lib")
    }

    fn sources(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib/src/rust/library/Cargo.lock")
    }
}

/// The environment variables that decide which toolchain is found.
pub const VARIABLES: [&str; 5] = ["PATH", "HOME", "USERPROFILE", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];

/// Finds a toolchain for `target`. Where `install`, may install the target's standard library through rustup.
///
/// # Errors
/// [`LinkError::ToolMissing`] without Rust or without a needed linker; [`LinkError::TargetMissing`] where Rust cannot build
/// for the target.
pub fn find(system: &dyn System, target: &CompileTarget, install: bool) -> Result<Toolchain, LinkError> {
    let sysroot = PathBuf::from(rustc(system, &["--print", "sysroot"])?.trim());
    let linker_version = target.linker.compiler().map(|compiler| linker_version(system, compiler)).transpose()?;
    let rustc_version = rustc(system, &["-vV"])?;
    let mut toolchain = Toolchain { route: Route::Installed, sysroot, rustc_version, linker_version };
    toolchain.route = route(system, &toolchain, &target.triple, install)?;
    Ok(toolchain)
}

fn route(system: &dyn System, toolchain: &Toolchain, triple: &str, install: bool) -> Result<Route, LinkError> {
    if system.is_dir(&toolchain.library(triple)) {
        return Ok(Route::Installed);
    }
    if install && add_target(system, &toolchain.sysroot, triple) && system.is_dir(&toolchain.library(triple)) {
        return Ok(Route::Added);
    }
    if system.stamp(&toolchain.sources()).is_ok() {
        return Ok(Route::BuildStd);
    }
    let command = match toolchain_name(system, &toolchain.sysroot) {
        Some(name) => format!("rustup target add --toolchain {name} {triple}"),
        None => "apt-get install rust-src".to_owned(),
    };
    Err(LinkError::TargetMissing { triple: triple.to_owned(), sysroot: toolchain.sysroot.clone(), command })
}

/// Asks rustup for the target's standard library, where rustup manages the toolchain. Returns whether rustup could install the library.
fn add_target(system: &dyn System, sysroot: &Path, triple: &str) -> bool {
    let Some(name) = toolchain_name(system, sysroot) else { return false };
    let invocation = Invocation::new("rustup").args(["target", "add", "--toolchain", &name, triple]);
    system.run(&invocation).is_ok_and(|outcome| outcome.success())
}

/// The name of the toolchain in `sysroot` for rustup, if rustup manages the toolchain.
fn toolchain_name(system: &dyn System, sysroot: &Path) -> Option<String> {
    let below = sysroot.strip_prefix(rustup_home(system)?.join("toolchains")).ok()?;
    below.to_str().map(str::to_owned)
}

fn rustup_home(system: &dyn System) -> Option<PathBuf> {
    let default = || host::home(system).map(|home| home.join(".rustup"));
    system.variable("RUSTUP_HOME").map(PathBuf::from).or_else(default)
}

/// Asks the compiler, from the compiler's folder: the folder in which etbuild was started must not choose the toolchain.
fn rustc(system: &dyn System, arguments: &[&str]) -> Result<String, LinkError> {
    let mut invocation = Invocation::new("rustc").args(arguments);
    invocation.directory = host::in_path(system, "rustc").and_then(|path| path.parent().map(Path::to_owned));
    output(system, "rustc", &invocation)
}

fn linker_version(system: &dyn System, name: &str) -> Result<String, LinkError> {
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let compiler = output(system, name, &Invocation::new(name).arg("--version")).map(first_line)?;
    let linker = output(system, name, &Invocation::new(name).arg("-Wl,--version")).map(first_line)?;
    Ok(format!("{compiler}, {linker}"))
}

fn output(system: &dyn System, program: &str, invocation: &Invocation) -> Result<String, LinkError> {
    let missing = |reason: String| LinkError::ToolMissing { program: program.to_owned(), reason };
    let outcome = system.run(invocation).map_err(|error| missing(error.to_string()))?;
    if outcome.success() {
        return Ok(String::from_utf8_lossy(&outcome.stdout).into_owned());
    }
    Err(missing(String::from_utf8_lossy(&outcome.stderr).trim().to_owned()))
}

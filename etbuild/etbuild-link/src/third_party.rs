//! Third-party crates, which projects alone have that read text: fetched from the registry that Cargo is configured for, or
//! from the user's cache, in the versions of the lock file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use etbuild_system::{Invocation, System, host};
use toml::{Table, Value};

use crate::scratch::Scratch;
use crate::workshop::{Workshop, removed_variables};
use crate::{CompileTarget, LinkError, Project, Toolchain, manifest};

/// Fetches the crates that a project in `folder` needs; returns the folders of the user's crates. They are the same for a project without
/// third-party crates, so that both have the same flags, and share what they compile.
///
/// # Errors
/// [`LinkError::Fetch`] for a crate that cannot be fetched; [`LinkError::ToolMissing`] without cargo.
pub fn fetch(
    system: &dyn System,
    toolchain: &Toolchain,
    target: &CompileTarget,
    project: &Project,
    folder: &Scratch,
    offline: bool,
) -> Result<Vec<PathBuf>, LinkError> {
    if project.third_party {
        fetched(system, toolchain, &["--target", &target.triple], folder, offline)?;
    }
    Ok(cargo_home(system).map(|home| folders(system, &home, "src")).unwrap_or_default())
}

fn fetched(
    system: &dyn System,
    toolchain: &Toolchain,
    which: &[&str],
    folder: &Scratch,
    offline: bool,
) -> Result<(), LinkError> {
    let mut invocation = Invocation::new(toolchain.cargo())
        .args(["fetch", "--quiet"])
        .args(which)
        .current_dir(folder.project())
        .env("RUSTC", toolchain.rustc());
    if offline {
        invocation = invocation.arg("--offline");
    }
    invocation.removed_variables = removed_variables();
    let missing =
        |error: std::io::Error| LinkError::ToolMissing { program: "cargo".to_owned(), reason: error.to_string() };
    let outcome = system.run(&invocation).map_err(missing)?;
    if outcome.success() {
        Ok(())
    } else {
        Err(LinkError::Fetch(String::from_utf8_lossy(&outcome.stderr).trim().to_owned()))
    }
}

/// A crate as packed by the registry.
#[derive(Debug)]
pub struct Archive {
    /// Name and version, the name of the crate's folder.
    pub name: String,
    /// The checksum in the lock file.
    pub checksum: String,
    /// A tar file, compressed by gzip.
    pub bytes: Vec<u8>,
}

/// The crates of a project for a machine that cannot fetch any: those of other platforms too, because Cargo reads what they
/// depend on before it leaves them out.
///
/// # Errors
/// As of [`fetch`].
pub fn archives(
    system: &dyn System,
    toolchain: &Toolchain,
    project: &Project,
    workshop: &Workshop<'_>,
) -> Result<Vec<Archive>, LinkError> {
    if !project.third_party {
        return Ok(Vec::new());
    }
    let folder = Scratch::open(workshop.folder, "metadata")?;
    folder.write(system, project)?;
    fetched(system, toolchain, &[], &folder, workshop.offline)?;
    let kept = cargo_home(system).map(|home| folders(system, &home, "cache")).unwrap_or_default();
    let archive = |((name, version), checksum): ((String, String), String)| {
        let name = format!("{name}-{version}");
        let found = kept.iter().find_map(|folder| system.read(&folder.join(format!("{name}.crate"))).ok());
        let bytes = found.ok_or_else(|| LinkError::Fetch(format!("{name} is not where Cargo keeps crates")))?;
        Ok(Archive { name, checksum, bytes })
    };
    digests(system, project, &folder)?.into_iter().map(archive).collect()
}

/// Cargo's own folder.
fn cargo_home(system: &dyn System) -> Option<PathBuf> {
    let home = || host::home(system).map(|home| home.join(".cargo"));
    system.variable("CARGO_HOME").map(PathBuf::from).or_else(home)
}

/// The folders of unpacked crates, `src`, or of packed crates, `cache`: one for each registry.
fn folders(system: &dyn System, cargo_home: &Path, kind: &str) -> Vec<PathBuf> {
    let mut folders = system.list(&cargo_home.join("registry").join(kind)).unwrap_or_default();
    folders.sort();
    folders
}

/// The digests of third-party crates by name and version.
pub type Digests = BTreeMap<(String, String), String>;

/// The crates of the lock file in `folder`.
///
/// # Errors
/// [`LinkError::Io`] or [`LinkError::Template`] for an unreadable lock file.
pub fn digests(system: &dyn System, project: &Project, folder: &Scratch) -> Result<Digests, LinkError> {
    if !project.third_party {
        return Ok(Digests::new());
    }
    let path = folder.project().join("Cargo.lock");
    let bytes = system.read(&path).map_err(|source| LinkError::Io { path, source })?;
    let lock = manifest::parse(&String::from_utf8_lossy(&bytes))?;
    let packages = lock.get("package").and_then(Value::as_array).into_iter().flatten();
    Ok(packages.filter_map(|package| locked(package.as_table()?)).collect())
}

/// A package of a registry; packages of the project have no checksum.
fn locked(package: &Table) -> Option<((String, String), String)> {
    let text = |key: &str| package.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(((text("name")?, text("version")?), text("checksum")?))
}

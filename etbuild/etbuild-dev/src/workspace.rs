//! Cargo's metadata of the workspace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand};
use serde::Deserialize;

use crate::error::Error;

/// A crate of ours.
#[derive(Default)]
pub struct Package {
    /// The crate's name.
    pub name: String,
    /// The folder of the manifest, relative to the root.
    pub folder: PathBuf,
    /// The dependencies of the library, binary and build script.
    pub dependencies: Vec<Dependency>,
    /// The names of the features.
    pub features: Vec<String>,
}

/// A crate that another depends on.
pub struct Dependency {
    /// The crate's name.
    pub name: String,
    /// Whether the crate belongs to this workspace.
    pub ours: bool,
    /// Whether the crate is linked, in contrast to a build dependency.
    pub linked: bool,
}

/// The allowed dependencies of a crate.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Arrows {
    /// The crates of ours.
    pub may_use: Vec<String>,
    /// Whether crates that are not ours are allowed.
    #[serde(default = "allowed")]
    pub third_party: bool,
    /// Circles of modules that are not untied yet, as `cargo dev tidy` prints the circles.
    #[serde(default)]
    pub circles: Vec<String>,
    /// The modules of the crate's root, each with the modules that it may import; not looked at where absent.
    pub modules: Option<BTreeMap<String, Vec<String>>>,
}

const fn allowed() -> bool {
    true
}

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command of the Cargo that runs this program.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// The crates of the workspace.
pub fn packages(root: &Path) -> Result<Vec<Package>, Error> {
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    let workspace = metadata.workspace_root.as_std_path();
    Ok(metadata.packages.iter().map(|package| describe(package, workspace)).collect())
}

/// The arrow table.
pub fn arrows(root: &Path) -> Result<BTreeMap<String, Arrows>, Error> {
    let path = root.join("etbuild/etbuild-dev/arrows.toml");
    let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
    Ok(toml::from_str(&text)?)
}

fn describe(package: &cargo_metadata::Package, workspace: &Path) -> Package {
    let folder = package.manifest_path.parent().map(|folder| folder.as_std_path().to_owned()).unwrap_or_default();
    let dependencies = package.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
    Package {
        name: package.name.to_string(),
        folder: folder.strip_prefix(workspace).unwrap_or(&folder).to_owned(),
        dependencies: dependencies
            .map(|dependency| Dependency {
                name: dependency.name.clone(),
                ours: dependency.path.is_some(),
                linked: dependency.kind == DependencyKind::Normal,
            })
            .collect(),
        features: package.features.keys().cloned().collect(),
    }
}

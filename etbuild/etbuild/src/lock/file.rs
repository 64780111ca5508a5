//! The file itself: TOML, sorted, without times and hosts, an entry for each thing, so that branches merge.

use std::collections::BTreeMap;
use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic, Span, unwritable};
use etbuild_hub::Reference;
use etbuild_system::System;
use serde::{Deserialize, Serialize};

/// The name, in the folder where etbuild starts.
pub const LOCK_FILE: &str = "etbuild.lock";

/// The version of the format.
const VERSION: u32 = 1;

const HEADING: &str = "# Written by `etbuild lock`; `etbuild lock --update` accepts changes.\n";

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// The version of the format.
    pub version: u32,
    /// Files that units read, by path.
    #[serde(default, rename = "source")]
    pub sources: Vec<LockedSource>,
    /// Tools, by name.
    #[serde(default, rename = "tool")]
    pub tools: Vec<LockedTool>,
    /// Targets, by name.
    #[serde(default, rename = "target")]
    pub targets: Vec<LockedTarget>,
    /// Units, by name.
    #[serde(default, rename = "unit")]
    pub units: Vec<LockedUnit>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedSource {
    /// From the folder of the lock file.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// BLAKE3 of the bytes.
    pub b3: String,
    /// The commit of the file's present content, for users: the commit is not compared. Of a file of the Hugging Face Hub, the
    /// commit that builds use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// A tool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedTool {
    /// The name.
    pub name: String,
    /// The version by the tool, or the digest.
    pub version: String,
}

/// A target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedTarget {
    /// The name.
    pub name: String,
    /// BLAKE3 of all facts of the target.
    pub b3: String,
}

/// A unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedUnit {
    /// `recipe@target`.
    pub id: String,
    /// The results by name, with their BLAKE3.
    pub outputs: BTreeMap<String, String>,
}

impl Lock {
    /// A file without entries.
    pub fn new() -> Self {
        Self { version: VERSION, ..Self::default() }
    }

    /// In the order of paths, names and units.
    pub fn sort(&mut self) {
        self.sources.sort();
        self.sources.dedup_by(|one, other| one.path == other.path);
        self.tools.sort();
        self.tools.dedup();
        self.targets.sort();
        self.targets.dedup();
        self.units.sort();
    }
}

/// The content of the file; `None` for a missing file.
pub fn read(system: &dyn System) -> Result<Option<Lock>, Vec<Diagnostic>> {
    let Ok(bytes) = system.read(Path::new(LOCK_FILE)) else { return Ok(None) };
    let parsed = toml::from_str::<Lock>(&String::from_utf8_lossy(&bytes));
    let wrong = |message: String| {
        let diagnostic = Diagnostic::error(Code::LockMalformed, message).at(Span::file(LOCK_FILE));
        vec![diagnostic.help("restore the file from git, or remove it and run `etbuild lock`")]
    };
    let lock = parsed.map_err(|error| wrong(error.message().to_owned()))?;
    match lock.version {
        VERSION => Ok(Some(lock)),
        other => Err(wrong(format!("unsupported lock file version {other}"))),
    }
}

/// The commits of repositories of the Hugging Face Hub in the lock file. A file that cannot be read is an error of the commands that
/// compare the build with the file.
pub fn commits(system: &dyn System) -> BTreeMap<String, String> {
    let commit = |source: LockedSource| {
        let reference = Reference::parse(&source.path)?.ok()?;
        Some((reference.repository, source.revision?))
    };
    let lock = read(system).ok().flatten().unwrap_or_default();
    lock.sources.into_iter().filter_map(commit).collect()
}

/// Writes the file.
pub fn write(system: &dyn System, lock: &Lock) -> Result<(), Vec<Diagnostic>> {
    let text = toml::to_string(lock).map_err(|error| vec![Diagnostic::error(Code::Internal, error.to_string())])?;
    system
        .write(Path::new(LOCK_FILE), (HEADING.to_owned() + &text).as_bytes(), false)
        .map_err(|error| vec![unwritable(Path::new(LOCK_FILE), &error)])
}

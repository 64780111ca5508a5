//! The device crates of a generated project: the crates, the manifests, the digests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use toml::{Table, Value};

use crate::LinkError;
use crate::digest::digest;
use crate::embedded::{CRATES, EmbeddedFolder, WORKSPACE_MANIFEST};
use crate::manifest;

/// The device crates, by name.
#[derive(Clone, Debug)]
pub struct Sources {
    crates: BTreeMap<&'static str, SourceCrate>,
    workspace: Table,
}

/// The digest of all files of the device crates inside this etbuild, in lower-case hexadecimal.
pub fn device_crates_digest() -> &'static str {
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let of_folder = |folder: &EmbeddedFolder| digest(folder.files.iter().map(|file| (file.path, file.bytes)));
        digest(CRATES.iter().map(|folder| (folder.name, of_folder(folder))))
    })
}

/// A device crate as a generated project contains it.
#[derive(Clone, Debug)]
pub struct SourceCrate {
    folder: EmbeddedFolder,
    manifest: Table,
}

impl Sources {
    /// The crates inside this etbuild.
    ///
    /// # Errors
    /// [`LinkError::Template`] for a malformed manifest.
    pub fn embedded() -> Result<Self, LinkError> {
        let crates = CRATES.iter().map(|folder| SourceCrate::read(*folder).map(|source| (folder.name, source)));
        Ok(Self { crates: crates.collect::<Result<_, _>>()?, workspace: manifest::parse(WORKSPACE_MANIFEST)? })
    }

    /// The crates that `roots` need, `roots` included, sorted by name, without third-party crates.
    ///
    /// # Errors
    /// [`LinkError::Template`] for a crate that is not embedded.
    pub fn closure(&self, roots: Vec<String>) -> Result<Vec<&SourceCrate>, LinkError> {
        let (mut found, elsewhere) = (BTreeSet::new(), self.elsewhere());
        let mut open = roots;
        while let Some(name) = open.pop() {
            if !found.contains(&name) && !elsewhere.contains_key(&name) {
                open.extend(self.get(&name)?.dependencies());
                found.insert(name);
            }
        }
        found.iter().map(|name: &String| self.get(name)).collect()
    }

    /// The `[workspace]` table of a project that contains `crates`: the values that the crates' manifests inherit.
    pub fn workspace(&self, crates: &[&SourceCrate]) -> Table {
        let place = |source: &&SourceCrate| {
            let path = ("path".to_owned(), Value::from(format!("crates/{}", source.name())));
            // Host code is a default feature: the catalogue of operators holds every kernel for every type.
            let place = Table::from_iter([path, ("default-features".to_owned(), Value::from(false))]);
            (source.name().to_owned(), Value::from(place))
        };
        let mut workspace = manifest::section(&self.workspace, "workspace");
        workspace.retain(|key, _| matches!(key, "package" | "lints" | "resolver"));
        let mut dependencies = self.third_party(crates);
        dependencies.extend(crates.iter().map(place));
        workspace.insert("dependencies".to_owned(), Value::from(dependencies));
        workspace
    }

    /// The third-party crates that `crates` depend on, as the workspace declares them.
    pub fn third_party(&self, crates: &[&SourceCrate]) -> Table {
        let names: BTreeSet<String> = crates.iter().flat_map(|source| source.dependencies()).collect();
        let mut declared = self.elsewhere();
        declared.retain(|name, _| names.contains(name));
        declared
    }

    /// The dependencies that the workspace declares and is not where they lie.
    fn elsewhere(&self) -> Table {
        let mut declared = manifest::section(&manifest::section(&self.workspace, "workspace"), "dependencies");
        declared.retain(|_, dependency| dependency.get("path").is_none());
        declared
    }

    /// The default features of a crate, for a crate that has such.
    ///
    /// # Errors
    /// [`LinkError::Template`] for a crate that is not embedded.
    pub fn default_features(&self, name: &str) -> Result<BTreeSet<String>, LinkError> {
        let features = manifest::section(&self.get(name)?.manifest, "features");
        let default = features.get("default").and_then(Value::as_array).into_iter().flatten();
        Ok(default.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    fn get(&self, name: &str) -> Result<&SourceCrate, LinkError> {
        let missing = || LinkError::Template(format!("the device crate `{name}` is not part of this etbuild"));
        self.crates.get(name).ok_or_else(missing)
    }
}

impl SourceCrate {
    fn read(folder: EmbeddedFolder) -> Result<Self, LinkError> {
        let text = folder.file("Cargo.toml").and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
        Ok(Self { folder, manifest: manifest::for_device(manifest::parse(text)?) })
    }

    /// The crate's name.
    pub fn name(&self) -> &'static str {
        self.folder.name
    }

    /// The files by path, the manifest reduced for a device.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
        self.folder.files.iter().map(|file| match file.path {
            "Cargo.toml" => (file.path, self.manifest.to_string().into_bytes()),
            _ => (file.path, file.bytes.to_vec()),
        })
    }

    /// BLAKE3 over paths and contents, in lower-case hexadecimal.
    pub fn digest(&self) -> String {
        digest(self.files())
    }

    fn dependencies(&self) -> Vec<String> {
        manifest::inherited(&self.manifest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(roots: &[&str]) -> Vec<&'static str> {
        let sources = Sources::embedded().unwrap();
        sources
            .closure(roots.iter().map(ToString::to_string).collect())
            .unwrap()
            .iter()
            .map(|source| source.name())
            .collect()
    }

    #[test]
    fn a_crate_brings_what_it_depends_on() {
        assert_eq!(names(&["et-ops"]), ["et-core", "et-ops", "et-signal"]);
    }

    #[test]
    fn an_unknown_crate_is_named() {
        let error = Sources::embedded().unwrap().closure(vec!["et-nothing".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("`et-nothing`"), "{error}");
    }

    #[test]
    fn text_constraints_media_servers_updates_and_drivers_alone_need_crates_from_elsewhere() {
        let sources = Sources::embedded().unwrap();
        for source in sources.crates.values().filter(|source| source.name() != "et-conformance") {
            sources.closure(vec![source.name().to_owned()]).unwrap();
            let names: Vec<String> = sources.third_party(&[source]).keys().cloned().collect();
            let expected: &[&str] = match source.name() {
                "et-constrain" => &["llguidance", "serde_json"],
                "et-gpu" => &["ash", "objc2", "objc2-foundation", "objc2-metal"],
                "et-media" => &["hound", "png", "zune-core", "zune-jpeg"],
                "et-qnn" => &["libloading"],
                "et-serve" => {
                    &["axum", "hyper", "hyper-util", "serde", "serde_json", "tokio", "tokio-stream", "tower-http"]
                }
                "et-text" => &[
                    "libc",
                    "memchr",
                    "minijinja",
                    "minijinja-contrib",
                    "serde_core",
                    "serde_json",
                    "smallvec",
                    "time",
                    "tokenizers",
                ],
                "et-update" => &["blake3", "ed25519-compact", "miniz_oxide"],
                _ => &[],
            };
            assert_eq!(names, expected, "{}", source.name());
        }
    }

    #[test]
    fn digests_differ_between_crates_and_repeat() {
        let sources = Sources::embedded().unwrap();
        let digests = |()| -> BTreeSet<String> { sources.crates.values().map(SourceCrate::digest).collect() };
        assert_eq!(digests(()).len(), sources.crates.len());
        assert_eq!(digests(()), digests(()));
    }
}

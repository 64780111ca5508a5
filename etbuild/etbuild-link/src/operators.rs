//! Crates of the user with kernels of custom operators.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use et_core::Dtypes;
use toml::{Table, Value};

use crate::digest::digest;
use crate::{LinkError, manifest};

/// The crates that kernels are written with, and the only ones: a build needs neither a registry nor the user's cache.
pub const DEPENDENCIES: [&str; 2] = ["et-core", "et-ops"];

/// A crate with kernels of custom operators.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperatorCrate {
    folder: PathBuf,
    name: String,
    edition: String,
    files: BTreeMap<String, Vec<u8>>,
    kernels: Vec<CustomKernel>,
}

/// The kernel of a custom operator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CustomKernel {
    /// The name in program files: `mylib::fused_gate.out`.
    pub operator: String,
    /// The path in the crate of a kernel that is generic over its dtypes: `fused_gate::out`.
    pub path: String,
    /// The dtypes of the operator's tensors.
    pub dtypes: Dtypes,
}

impl OperatorCrate {
    /// The crate in `folder` with this manifest, these sources by path below the crate, and these kernels.
    ///
    /// # Errors
    /// The part of the manifest that a generated project cannot use, as a sentence.
    pub fn new(
        folder: &Path,
        cargo_toml: &str,
        files: BTreeMap<String, Vec<u8>>,
        kernels: Vec<CustomKernel>,
    ) -> Result<Self, String> {
        let manifest: Table = cargo_toml
            .parse()
            .map_err(|error: toml::de::Error| format!("the manifest cannot be read: {}", error.message()))?;
        let package = manifest::section(&manifest, "package");
        let text = |key: &str| package.get(key).and_then(Value::as_str).map(str::to_owned);
        let name = text("name").filter(|name| is_usable(name)).ok_or(
            "the package needs a name of lower-case letters, digits, `-` and `_`, which does not begin with `et-` or `device-`",
        )?;
        let edition = text("edition").ok_or("the package needs an `edition`, such as \"2024\"")?;
        let runs_on_host = package.contains_key("build")
            || manifest.contains_key("build-dependencies")
            || manifest::section(&manifest, "lib").contains_key("proc-macro");
        if runs_on_host {
            return Err(
                "a crate of operators has no build script and no procedural macros: nothing of it runs on the host"
                    .to_owned(),
            );
        }
        let dependencies = manifest::section(&manifest, "dependencies");
        if let Some((other, _)) = dependencies.iter().find(|(name, _)| !DEPENDENCIES.contains(&name.as_str())) {
            return Err(format!("a crate of operators depends on `et-core` and `et-ops` only, and not on `{other}`"));
        }
        Ok(Self { folder: folder.to_owned(), name, edition, files, kernels })
    }

    /// The folder, in the user's form.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of the package.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The paths of the sources below the folder.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The kernel of an operator of a program file.
    pub fn kernel(&self, operator: &str) -> Option<&CustomKernel> {
        self.kernels.iter().find(|kernel| kernel.operator == operator)
    }

    /// The path of a kernel in Rust: `my_ops::fused_gate::out`.
    pub fn path(&self, kernel: &CustomKernel) -> String {
        format!("{}::{}", self.name.replace('-', "_"), kernel.path)
    }

    /// BLAKE3 over all that a project takes from the crate, in lower-case hexadecimal: not the folder.
    pub fn digest(&self) -> String {
        let kernels = self.kernels.iter().map(|CustomKernel { operator, path, dtypes }| {
            (operator.clone(), format!("{path} {:#x}", dtypes.0).into_bytes())
        });
        digest(self.project_files().into_iter().chain(kernels))
    }

    /// The files in a project: the sources, and a manifest with nothing but the dependencies.
    pub fn project_files(&self) -> BTreeMap<String, Vec<u8>> {
        let package = [("name", self.name.as_str()), ("version", "0.0.0"), ("edition", &self.edition)];
        let mut package: Table = package.into_iter().map(|(key, text)| (key.to_owned(), Value::from(text))).collect();
        for key in ["autobins", "build", "publish"] {
            package.insert(key.to_owned(), Value::from(false));
        }
        let workspace = Value::from(Table::from_iter([("workspace".to_owned(), Value::from(true))]));
        let dependencies: Table = DEPENDENCIES.iter().map(|name| ((*name).to_owned(), workspace.clone())).collect();
        let tables = [("package", package), ("dependencies", dependencies)];
        let manifest: Table = tables.into_iter().map(|(key, table)| (key.to_owned(), Value::from(table))).collect();
        let place = |path: &str| format!("{}/{path}", self.place());
        let sources = self.files.iter().map(|(path, bytes)| (place(path), bytes.clone()));
        sources.chain([(place("Cargo.toml"), manifest.to_string().into_bytes())]).collect()
    }

    /// The folder in a project.
    fn place(&self) -> String {
        format!("operators/{}", self.name)
    }

    /// The failure of a project with these crates. The rest of a project compiles by itself, so a mistake is in a crate of the user.
    #[must_use]
    pub fn blamed(error: LinkError, crates: &[Self]) -> LinkError {
        match error {
            LinkError::Compile(text) if !crates.is_empty() => {
                LinkError::Operators(crates.iter().fold(text, |text, found| found.with_own_paths(&text)))
            }
            other => other,
        }
    }

    /// A text of the compiler with the user's paths.
    fn with_own_paths(&self, text: &str) -> String {
        text.replace(&self.place(), &self.folder.display().to_string())
    }
}

fn is_usable(name: &str) -> bool {
    let letters = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_');
    let is_ours = ["et-", "et_", "device-", "device_"].iter().any(|start| name.starts_with(start));
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(letters) && !is_ours
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str =
        "[package]\nname = \"my-ops\"\nedition = \"2024\"\n[dependencies]\net-core = { path = \"x\" }\n";

    fn read(manifest: &str, source: &str) -> Result<OperatorCrate, String> {
        let files = BTreeMap::from([("src/lib.rs".to_owned(), source.as_bytes().to_vec())]);
        let kernel =
            CustomKernel { operator: "m::f.out".to_owned(), path: "f::out".to_owned(), dtypes: Dtypes::FLOATS };
        OperatorCrate::new(Path::new("a/my_ops"), manifest, files, vec![kernel])
    }

    #[test]
    fn a_project_gets_the_sources_and_a_manifest_of_its_own() {
        let found = read(MANIFEST, "//").unwrap();
        let files = found.project_files();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["operators/my-ops/Cargo.toml", "operators/my-ops/src/lib.rs"]);
        let text = String::from_utf8(files["operators/my-ops/Cargo.toml"].clone()).unwrap();
        assert!(text.contains("build = false") && !text.contains("path"), "{text}");
        assert_eq!(found.path(found.kernel("m::f.out").unwrap()), "my_ops::f::out");
        assert_eq!(found.with_own_paths(" --> operators/my-ops/src/lib.rs:1"), " --> a/my_ops/src/lib.rs:1");
    }

    #[test]
    fn the_digest_is_of_the_sources_and_not_of_the_folder() {
        let (found, other) = (read(MANIFEST, "//").unwrap(), read(MANIFEST, "///").unwrap());
        assert_ne!(found.digest(), other.digest());
        assert_eq!(found.digest(), OperatorCrate { folder: "b".into(), ..found.clone() }.digest());
    }

    #[test]
    fn what_would_run_on_the_host_or_need_a_registry_is_refused() {
        for (from, to, reason) in [
            ("my-ops", "et-ops", "needs a name"),
            ("my-ops", "My Ops", "needs a name"),
            ("edition = \"2024\"", "", "needs an `edition`"),
            ("edition", "build = \"make.rs\"\nedition", "no build script"),
            ("[dependencies]", "[lib]\nproc-macro = true\n[dependencies]", "no build script"),
            ("et-core = { path = \"x\" }", "libm = \"0.2\"", "not on `libm`"),
            ("[package]", "[package", "the manifest cannot be read"),
        ] {
            let found = read(&MANIFEST.replace(from, to), "//").unwrap_err();
            assert!(found.contains(reason), "{to}: {found}");
        }
    }
}

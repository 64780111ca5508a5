//! A generated Rust project: the template filled in, and the device crates that it depends on.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::embedded::{EmbeddedFolder, TEMPLATES};
use crate::render::render;
use crate::sources::Sources;
use crate::{LinkError, ProjectFacts, manifest};

/// A project: every file's contents by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The template's name.
    pub template: String,
    /// What the template gave: other facts make other files.
    pub package: BTreeMap<String, Vec<u8>>,
    /// The device crates, below `crates/`: the same for every project of a template.
    pub crates: BTreeMap<String, Vec<u8>>,
    /// Name and digest of each device crate.
    pub dependencies: Vec<(String, String)>,
}

impl Project {
    /// Fills in the template that `facts` name.
    ///
    /// # Errors
    /// [`LinkError::UnknownTemplate`]; [`LinkError::Template`] where the template uses what the facts lack;
    /// [`LinkError::VerifyData`] where verification data does not fit the method.
    pub fn new(facts: &ProjectFacts, sources: &Sources) -> Result<Self, LinkError> {
        let mut package = render(template(&facts.template)?, facts)?;
        let mut manifest = root_manifest(&package)?;
        let roots = used_crates(&package)?;
        let used = sources.closure(roots.iter().map(String::as_str))?;
        let mut workspace = sources.workspace(&used);
        workspace.extend(manifest::section(&manifest, "workspace"));
        manifest.insert("workspace".to_owned(), Value::from(workspace));
        package.insert("Cargo.toml".to_owned(), manifest.to_string().into_bytes());
        let file = |name: &str, path: &str| format!("crates/{name}/{path}");
        let files = |source: &&crate::SourceCrate| -> Vec<(String, Vec<u8>)> {
            source.files().map(|(path, bytes)| (file(source.name(), path), bytes)).collect()
        };
        let crates = used.iter().flat_map(files).collect();
        let dependencies = used.iter().map(|source| (source.name().to_owned(), source.digest())).collect();
        Ok(Self { template: facts.template.clone(), package, crates, dependencies })
    }

    /// All files by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.package.iter().chain(&self.crates).map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }
}

/// The names of the templates, sorted.
pub fn template_names() -> Vec<&'static str> {
    TEMPLATES.iter().map(|folder| folder.name).collect()
}

fn template(name: &str) -> Result<&'static EmbeddedFolder, LinkError> {
    TEMPLATES.iter().find(|folder| folder.name == name).ok_or_else(|| LinkError::UnknownTemplate(name.to_owned()))
}

fn root_manifest(package: &BTreeMap<String, Vec<u8>>) -> Result<Table, LinkError> {
    let bytes = package.get("Cargo.toml").ok_or_else(|| LinkError::Template("a template has no Cargo.toml".into()))?;
    manifest::parse(&String::from_utf8_lossy(bytes))
}

/// The device crates that the packages of a template name.
fn used_crates(package: &BTreeMap<String, Vec<u8>>) -> Result<Vec<String>, LinkError> {
    let manifests = package.iter().filter(|(path, _)| path.ends_with("Cargo.toml"));
    let crates = manifests.map(|(_, bytes)| manifest::parse(&String::from_utf8_lossy(bytes)));
    let crates: Vec<Table> = crates.collect::<Result<_, _>>()?;
    Ok(crates.iter().flat_map(manifest::inherited).collect())
}

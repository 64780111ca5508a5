//! A generated Rust project: the filled-in template, and the device crates of the project.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::digest::digest;
use crate::embedded::{EmbeddedFolder, LOCK, TEMPLATES};
use crate::operators::DEPENDENCIES;
use crate::render::{render, unfilled};
use crate::{LinkError, OperatorCrate, ProjectFacts, SourceCrate, Sources, device_crates_digest, manifest, system};

/// A project: every file's contents by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The files of the template, filled in with the facts of the model.
    pub package: BTreeMap<String, Vec<u8>>,
    /// The device crates, below `crates/`: the same for every project of a template.
    pub crates: BTreeMap<String, Vec<u8>>,
    /// Name and digest of each device crate.
    pub dependencies: Vec<(String, String)>,
    /// Whether the project needs third-party crates, whose versions the lock file fixes.
    pub third_party: bool,
    /// The file name of the shared library, for a project with one.
    pub shared: Option<String>,
    /// The digest of all device crates, used or not: projects with equal digests can be compiled in one folder.
    pub sources: String,
}

/// The path of an archive without members. Crates that open libraries have the linker look for `dl`, whose functions musl keeps in
/// `libc.a`; the musl of Rust lacks the empty `libdl.a` that distributions add.
const EMPTY_LIBRARY: &str = "libdl.a";

/// The path of the linker's arguments that only this project has. Android's linkers read it.
pub const LINKER_ARGUMENTS: &str = "linker.args";

impl Project {
    /// Fills in the template that `facts` name.
    ///
    /// # Errors
    /// [`LinkError::UnknownTemplate`]; [`LinkError::Template`] where the template uses what the facts lack;
    /// [`LinkError::VerifyData`] where verification data does not fit the method; [`LinkError::ConstantsTooLarge`].
    pub fn new(facts: &ProjectFacts, sources: &Sources) -> Result<Self, LinkError> {
        facts.check_constants()?;
        let mut package = render(find(&facts.template)?, facts)?;
        package.extend(facts.operators.iter().flat_map(OperatorCrate::project_files));
        if let Some(system) = facts.system {
            package.extend(system.files()?);
        }
        let shared = facts.library.and_then(|form| form.loaded_name(&facts.name));
        if facts.board.is_none() {
            let name = shared.as_ref().map(|name| format!("-soname={name}\n"));
            package.insert(LINKER_ARGUMENTS.to_owned(), name.unwrap_or_default().into_bytes());
        }
        Ok(Self { shared, ..Self::assemble(package, sources)? })
    }

    /// The project of a template before filling in: enough to ask cargo for the dependencies.
    ///
    /// # Errors
    /// [`LinkError::UnknownTemplate`].
    pub fn skeleton(template: &str, sources: &Sources) -> Result<Self, LinkError> {
        Self::assemble(unfilled(find(template)?)?, sources)
    }

    fn assemble(mut package: BTreeMap<String, Vec<u8>>, sources: &Sources) -> Result<Self, LinkError> {
        let used = sources.closure(used_crates(&package)?)?;
        let mut manifest = root_manifest(&package)?;
        let mut workspace = sources.workspace(&used);
        workspace.extend(manifest::section(&manifest, "workspace"));
        manifest.insert("workspace".to_owned(), Value::from(workspace));
        package.insert("Cargo.toml".to_owned(), manifest.to_string().into_bytes());
        let third_party = !sources.third_party(&used).is_empty();
        if third_party {
            // Cargo leaves out the crates that the project does not use.
            package.insert("Cargo.lock".to_owned(), LOCK.as_bytes().to_vec());
            package.insert(EMPTY_LIBRARY.to_owned(), system::EMPTY_ARCHIVE.to_vec());
        }
        let crates = used.iter().flat_map(|source| placed_files(source)).collect();
        let dependencies = used.iter().map(|source| (source.name().to_owned(), source.digest())).collect();
        Ok(Self {
            package,
            crates,
            dependencies,
            third_party,
            shared: None,
            sources: device_crates_digest().to_owned(),
        })
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

/// The digest of a template's files, in lower-case hexadecimal.
///
/// # Errors
/// [`LinkError::UnknownTemplate`].
pub fn template_digest(name: &str) -> Result<String, LinkError> {
    let template = find(name)?;
    Ok(digest(template.files.iter().map(|file| (file.path, file.bytes))))
}

/// The crates that kernels are written with, as a workspace of their own: files by path.
///
/// # Errors
/// [`LinkError::Template`] for a malformed manifest.
pub fn kernel_crates() -> Result<BTreeMap<String, Vec<u8>>, LinkError> {
    let sources = Sources::embedded()?;
    let used = sources.closure(DEPENDENCIES.map(str::to_owned).to_vec())?;
    let mut workspace = sources.workspace(&used);
    workspace.insert("members".to_owned(), Value::from(vec!["crates/*"]));
    let manifest = Table::from_iter([("workspace".to_owned(), Value::from(workspace))]).to_string();
    let files = used.iter().flat_map(|source| placed_files(source));
    Ok(files.chain([("Cargo.toml".to_owned(), manifest.into_bytes())]).collect())
}

fn find(name: &str) -> Result<&'static EmbeddedFolder, LinkError> {
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

/// The files of a device crate, for a project with the crate.
fn placed_files(source: &SourceCrate) -> Vec<(String, Vec<u8>)> {
    let place = |(path, bytes)| (format!("crates/{}/{path}", source.name()), bytes);
    source.files().map(place).collect()
}

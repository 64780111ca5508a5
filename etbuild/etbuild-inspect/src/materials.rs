//! The materials of a unit: sources, tools and the target, each by an identity.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_engine::dry_run::known_inputs;
use etbuild_engine::input::{Db, EngineDatabase, file_digest};
use etbuild_engine::pipeline::Stage;
use etbuild_engine::request::{Request, resolve};
use etbuild_engine::session::{World, guarded};
use etbuild_engine::unit::Unit;
use etbuild_engine::verify::{self, Runner};
use etbuild_engine::{PRODUCER, export, failure, link};
use etbuild_recipe::Model;
use etbuild_store::Digest;

/// The materials of one unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Materials {
    /// The recipe's name.
    pub recipe: String,
    /// The recipe's file.
    pub file: PathBuf,
    /// The target's name.
    pub target: String,
    /// The digest of all facts of the target.
    pub target_digest: Digest,
    /// The files that are read, sorted by path.
    pub sources: Vec<Source>,
    /// Whether the list is complete: the files of a Python model are known once the model was exported.
    pub complete: bool,
    /// The programs that run beside etbuild, and etbuild: versions by name.
    pub tools: BTreeMap<String, String>,
}

/// A file that a unit reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// The path in the user's form; of a model of the Hugging Face Hub, the hub's name of the file.
    pub path: PathBuf,
    /// The commit of a file of the Hugging Face Hub.
    pub commit: Option<String>,
    /// The purpose.
    pub role: Role,
    /// The size in bytes.
    pub size: u64,
    /// The digest of the bytes.
    pub digest: Digest,
}

/// The purpose of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A recipe, or a source of a model: a script, a module.
    File,
    /// A model archive, or a file of a checkpoint.
    Model,
    /// Calibration, labelled or verification data.
    Data,
}

impl Materials {
    /// `recipe@target`.
    pub fn instance(&self) -> String {
        format!("{}@{}", self.recipe, self.target)
    }
}

/// The materials of every unit of a request, in the request's order.
///
/// # Errors
/// Mistakes in the recipes; files that cannot be read.
pub fn materials(world: &Arc<World>, request: &Request) -> Result<Vec<Materials>, Vec<Diagnostic>> {
    let db = EngineDatabase::new(world.clone());
    let found = guarded(|| resolve(&db, request)?.iter().map(|unit| of_unit(&db, unit)).collect());
    found.unwrap_or_else(|transient| Err(vec![transient.into()]))
}

fn of_unit(db: &dyn Db, unit: &Unit) -> Result<Materials, Vec<Diagnostic>> {
    let (files, complete) = known_inputs(db, unit);
    let sources = files.into_iter().map(|path| source(db, unit, path)).collect::<Result<_, _>>()?;
    Ok(Materials {
        recipe: unit.name().to_owned(),
        file: unit.source().to_owned(),
        target: unit.target.name().to_owned(),
        target_digest: Digest::of(format!("{:?}", unit.target).as_bytes()),
        sources,
        complete,
        tools: tools(db, unit),
    })
}

fn source(db: &dyn Db, unit: &Unit, path: PathBuf) -> Result<Source, Vec<Diagnostic>> {
    let world = db.world();
    let unreadable = |error| failure::unreadable(&path, &error);
    let size = world.system().stamp(&path).map_err(unreadable)?.size;
    let digest = file_digest::of(world, &path).map_err(unreadable)?;
    let role = role(unit, &path);
    // In the cache of another machine the model is the same one.
    let (path, commit) = match etbuild_hub::cached(&path) {
        Some(cached) => (cached.reference.to_string().into(), Some(cached.commit)),
        None => (path, None),
    };
    Ok(Source { path, commit, role, size, digest })
}

fn role(unit: &Unit, path: &PathBuf) -> Role {
    let archives = unit.recipe.model.archives();
    let checkpoint = matches!(&unit.recipe.model, Model::Checkpoint(folder) if path.starts_with(&folder.path));
    let adapter = unit.recipe.adapter.as_ref().is_some_and(|adapter| path.starts_with(&adapter.path));
    if checkpoint || adapter || archives.values().any(|archive| archive.path == *path) {
        return Role::Model;
    }
    let script = unit.recipe.model.files().iter().any(|file| file.path == *path);
    let named = unit.recipe.files().iter().any(|file| file.path == *path);
    if named && !script { Role::Data } else { Role::File }
}

/// A program that is missing on this machine takes no part in the build, and is left out.
fn tools(db: &dyn Db, unit: &Unit) -> BTreeMap<String, String> {
    let world = db.world();
    let mut tools = BTreeMap::from([("etbuild".to_owned(), format!("{PRODUCER} {}", code_version()))]);
    if let Ok(found) = link::tools(world, &unit.target) {
        let identity: Vec<String> = found.toolchain.identity().lines().map(str::to_owned).collect();
        tools.insert(format!("rust for {}", unit.target.rust().triple), identity.join("; "));
    }
    if let Ok(Runner::Emulator { program, digest, .. }) = verify::runner(world, &unit.target) {
        tools.insert(program.file_name().unwrap_or_default().to_string_lossy().into_owned(), format!("b3:{digest}"));
    }
    for archive in unit.program.archives.values() {
        if let Some(python) = archive.python(db) {
            tools.extend(export::export_tools(db, python));
        }
    }
    for (backend, digest) in &unit.program.partition.compilers {
        tools.insert(format!("compiler of {backend}"), format!("b3:{digest}"));
    }
    tools
}

/// The digest of the code of all stages.
fn code_version() -> String {
    let versions: String = Stage::ALL.iter().map(|stage| stage.code_version()).collect();
    Digest::of(versions.as_bytes()).to_string()[..16].to_owned()
}

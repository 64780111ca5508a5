//! Finding the Python that exports, with the installed packages, without starting a process when no input of the search has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::Digest;
use etbuild_system::host;
use serde::{Deserialize, Serialize};

use super::protocol::{Probe, probe};
use crate::session::World;

/// A Python interpreter, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The program.
    pub program: PathBuf,
    /// Implementation and version, as in `cpython 3.12.1`.
    pub version: String,
    /// The versions of the installed packages, by the name of the distribution.
    pub distributions: BTreeMap<String, String>,
}

/// The memo of an interpreter: the answer, and the inputs that decide whether the answer still holds.
#[derive(Serialize, Deserialize)]
struct Remembered {
    version: String,
    distributions: BTreeMap<String, String>,
    watched: Vec<(PathBuf, Option<String>)>,
}

/// The interpreter that the recipe names, by path or by a name on `PATH`; else the interpreter of the active virtual environment, else
/// `python3` on `PATH`. Otherwise the missing program and the way to install the program.
pub fn interpreter(world: &World, named: Option<&Path>) -> Result<Interpreter, Box<Diagnostic>> {
    let program = find(world, named)?;
    if let Some(known) = recall(world, &program) {
        return Ok(known);
    }
    let Probe { version, distributions, watched } = probe(world, &program)?;
    let watched = watched.into_iter().map(|path| (path.clone(), stamp(world, &path))).collect();
    let remembered = Remembered { version, distributions, watched };
    if let Ok(bytes) = serde_json::to_vec(&remembered) {
        // Only time is lost where this fails.
        let _ = world.store().memo_put(&subject(&program), &bytes);
    }
    let Remembered { version, distributions, .. } = remembered;
    Ok(Interpreter { program, version, distributions })
}

fn recall(world: &World, program: &Path) -> Option<Interpreter> {
    let remembered: Remembered = serde_json::from_slice(&world.store().memo_get(&subject(program))?).ok()?;
    let unchanged = remembered.watched.iter().all(|(path, known)| stamp(world, path) == *known);
    unchanged.then(|| Interpreter {
        program: program.to_owned(),
        version: remembered.version,
        distributions: remembered.distributions,
    })
}

fn find(world: &World, named: Option<&Path>) -> Result<PathBuf, Box<Diagnostic>> {
    let system = world.system();
    let exists = |path: &PathBuf| system.stamp(path).is_ok();
    let found = match named {
        Some(path) if path.components().count() > 1 => [path.to_owned(), host::program(path)].into_iter().find(exists),
        Some(name) => host::in_path(system, name),
        None => {
            let active = system.variable("VIRTUAL_ENV").filter(|folder| !folder.is_empty());
            let active = active.map(|folder| Path::new(&folder).join(host::PYTHON_OF_ENVIRONMENT)).filter(exists);
            active.or_else(|| host::in_path(system, host::PYTHON))
        }
    };
    let found = found.ok_or_else(|| Box::new(missing(named)))?;
    // The export runs in the script's folder.
    Ok(std::path::absolute(&found).unwrap_or(found))
}

fn missing(named: Option<&Path>) -> Diagnostic {
    let message = match named {
        Some(path) => format!("there is no Python interpreter `{}`", path.display()),
        None => "there is no Python: no virtual environment is active, and `python3` is not on PATH".to_owned(),
    };
    let help =
        "activate the environment that has torch, or name its interpreter: `export: { interpreter: .venv/bin/python }`";
    Diagnostic::error(Code::ToolMissing, message).help(help)
}

fn subject(program: &Path) -> Digest {
    Digest::of(format!("python\0{}", program.display()).as_bytes())
}

fn stamp(world: &World, path: &Path) -> Option<String> {
    world.system().stamp(path).ok().map(|stamp| format!("{stamp:?}"))
}

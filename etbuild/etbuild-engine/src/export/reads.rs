//! The files that an export read, noted for the next export, as compilers note header files.

use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::{Digest, Key, KeyBuilder};
use serde::{Deserialize, Serialize};

use super::interpreter::Interpreter;
use super::protocol::Answer;
use crate::input::file_digest;
use crate::session::{Transient, World, interrupt};

/// One file that an export read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// The path from the script's folder; from the root for a file outside the project.
    pub name: String,
    /// The digest of the bytes.
    pub b3: String,
}

/// The files and packages of an export that are not known before the export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reads {
    /// Modules of the project, and files that the modules opened, in order.
    pub files: Vec<Read>,
    /// The distributions of imported modules, in order.
    pub distributions: Vec<String>,
}

impl Reads {
    /// The reads that the script reports. Modules count with the compiled bytes; a file must still have the bytes of the opening.
    pub fn of_answer(world: &World, answer: Answer, script: &Path, folder: &Path) -> Result<Self, Vec<Diagnostic>> {
        let mut files = Vec::new();
        for module in &answer.modules {
            let copy = folder.join(&module.copy);
            let bytes = world.system().read(&copy).map_err(|error| crate::failure::unreadable(&copy, &error))?;
            files.push(Read { name: module.name.clone(), b3: Digest::of(&bytes).to_string() });
        }
        for file in &answer.files {
            let path = place(script, &file.name);
            let stamp = world.system().stamp(&path).ok();
            if stamp.is_none_or(|stamp| (stamp.size, stamp.modified_ns) != (file.size, file.modified_ns)) {
                changed(&path);
            }
            let digest = file_digest::of(world, &path).unwrap_or_else(|_| changed(&path));
            files.push(Read { name: file.name.clone(), b3: digest.to_string() });
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self { files, distributions: answer.distributions })
    }

    /// The same list with the present digests of the files; `None` where a file is gone.
    fn refreshed(self, world: &World, script: &Path) -> Option<Self> {
        let now = |read: Read| {
            let digest = file_digest::of(world, &place(script, &read.name)).ok()?;
            Some(Read { b3: digest.to_string(), ..read })
        };
        Some(Self { files: self.files.into_iter().map(now).collect::<Option<_>>()?, ..self })
    }

    /// `key` with the whole list.
    pub fn key(&self, key: KeyBuilder, interpreter: &Interpreter) -> Key {
        let Self { files, distributions } = self;
        let version = |name: &String| interpreter.distributions.get(name).map_or("none", String::as_str);
        let key = distributions.iter().fold(key, |key, name| key.tool(name, version(name)));
        files.iter().fold(key, |key, Read { name, b3 }| key.input(name, b3.parse().unwrap_or(Digest::of(b"")))).finish()
    }

    /// Where the files are.
    pub fn paths(&self, script: &Path) -> Vec<PathBuf> {
        self.files.iter().map(|read| place(script, &read.name)).collect()
    }
}

/// The reads of the last export with this beginning of a key, with the present digests.
pub fn recall(world: &World, begin: &Key, script: &Path) -> Option<Reads> {
    let subject = subject(begin);
    let elsewhere = || world.remote()?.note(&subject);
    let bytes = world.store().memo_get(&subject).or_else(elsewhere)?;
    let noted: Reads = serde_json::from_slice(&bytes).ok()?;
    noted.refreshed(world, script)
}

/// Notes the reads of an export with this beginning of a key.
pub fn remember(world: &World, begin: &Key, reads: &Reads) {
    if let Ok(bytes) = serde_json::to_vec(reads) {
        // Only time is lost where this fails.
        let _ = world.store().memo_put(&subject(begin), &bytes);
        if let Some(remote) = world.remote() {
            remote.leave_note(&subject(begin), &bytes);
        }
    }
}

fn subject(begin: &Key) -> Digest {
    Digest::of(format!("export reads\0{}", begin.action()).as_bytes())
}

fn place(script: &Path, name: &str) -> PathBuf {
    script.parent().unwrap_or(Path::new("")).join(name)
}

fn changed(path: &Path) -> ! {
    let message = format!("`{}` changed while the export read it", path.display());
    let diagnostic = Diagnostic::error(Code::FileUnreadable, message).help("run the command again");
    interrupt(Transient::Environment(Box::new(diagnostic)))
}

//! The folder that a project is built in.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use etbuild_system::System;

use crate::{LinkError, Project};

/// A folder that this process alone builds in for as long as the value lives.
pub struct Scratch {
    folder: PathBuf,
    /// Unlocked when the file is closed, by the operating system if need be.
    _lock: File,
}

impl Scratch {
    /// Waits until no other process builds in the folder `name` below `parent`.
    pub fn open(parent: &Path, name: &str) -> Result<Self, LinkError> {
        let folder = parent.join(name);
        let failed = |source| LinkError::Io { path: folder.clone(), source };
        fs::create_dir_all(&folder).map_err(failed)?;
        let folder = fs::canonicalize(&folder).map_err(failed)?;
        let lock = File::create(folder.join("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(Self { folder, _lock: lock })
    }

    /// The generated project.
    pub fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    /// The folder for cargo's results.
    pub fn target(&self) -> PathBuf {
        self.folder.join("target")
    }

    /// Cargo's own folder: empty, so that cargo reads no configuration of the user.
    pub fn cargo_home(&self) -> PathBuf {
        self.folder.join("cargo-home")
    }

    /// Writes the project: the device crates where they differ from what is there, the package in any case, so that
    /// cargo compiles it again. Files that the template does not have are not compiled, because nothing refers to them.
    pub fn write(&self, system: &dyn System, project: &Project) -> Result<(), LinkError> {
        for (path, bytes) in &project.crates {
            let path = self.project().join(path);
            if system.read(&path).is_ok_and(|found| found == *bytes) {
                continue;
            }
            write(system, path, bytes)?;
        }
        project.package.iter().try_for_each(|(path, bytes)| write(system, self.project().join(path), bytes))
    }
}

fn write(system: &dyn System, path: PathBuf, bytes: &[u8]) -> Result<(), LinkError> {
    system.write(&path, bytes, false).map_err(|source| LinkError::Io { path, source })
}

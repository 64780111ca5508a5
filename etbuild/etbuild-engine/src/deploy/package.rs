//! Results in the output folder: the binary, the program file, the size report and the manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Diagnostic, unwritable};
use etbuild_store::{BlobRef, Digest};
use serde::Serialize;

use super::{OutputFile, StageRow};
use crate::session::{Transient, World, interrupt};

/// The content of `manifest.json`. No time, no host, no path outside the folder: equal results have equal manifests.
#[derive(Serialize)]
struct Manifest<'a> {
    schema: &'static str,
    recipe: &'a str,
    target: &'a str,
    /// Digest and size of every file in the folder, by name.
    files: BTreeMap<&'a str, ManifestFile>,
    /// The key of every stage: `plan`, or `import.forward` for a stage that runs for each of several methods.
    stages: BTreeMap<String, &'a str>,
}

#[derive(Serialize)]
struct ManifestFile {
    b3: String,
    size: u64,
}

/// A file to be in the folder.
pub struct Deliverable {
    /// The name.
    pub name: String,
    /// The bytes.
    pub blob: BlobRef,
    /// Whether the file is executable.
    pub executable: bool,
}

/// Brings `folder` to hold exactly these bytes under these names, and the manifest. A file that is there already is
/// compared, not written again; other files in the folder are left alone.
pub fn write(
    world: &World,
    folder: &Path,
    (recipe, target): (&str, &str),
    deliverables: &[Deliverable],
    stages: &[StageRow],
) -> Vec<OutputFile> {
    let mut files: Vec<OutputFile> = deliverables.iter().map(|deliverable| place(world, folder, deliverable)).collect();
    let manifest = Manifest {
        schema: "etbuild.manifest/1",
        recipe,
        target,
        files: deliverables.iter().map(|deliverable| (deliverable.name.as_str(), manifest_file(deliverable))).collect(),
        stages: stages.iter().map(|row| (row.name(), row.key.as_str())).collect(),
    };
    let text = serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n";
    let path = folder.join("manifest.json");
    let written = write_changed(world, path, text.as_bytes());
    files.push(written.unwrap_or_else(|diagnostic| interrupt(Transient::Environment(diagnostic))));
    files
}

/// Writes a file that does not have these bytes already.
///
/// # Errors
/// A file that cannot be written.
pub fn write_changed(world: &World, path: PathBuf, bytes: &[u8]) -> Result<OutputFile, Box<Diagnostic>> {
    if world.system().read(&path).ok().as_deref() != Some(bytes) {
        world.system().write(&path, bytes, false).map_err(|error| Box::new(unwritable(&path, &error)))?;
    }
    Ok(OutputFile { path, size: bytes.len() as u64, digest: Digest::of(bytes).to_string() })
}

/// Removes what is in a folder beside these files, such as what an earlier build of other units left there.
///
/// # Errors
/// A folder that cannot be listed, or a file that cannot be removed.
pub fn keep_only(world: &World, folder: &Path, files: &BTreeSet<PathBuf>) -> Result<(), Box<Diagnostic>> {
    let system = world.system();
    for entry in system.list(folder).map_err(|error| Box::new(unwritable(folder, &error)))? {
        if files.contains(&entry) {
            continue;
        }
        if files.iter().any(|file| file.starts_with(&entry)) {
            keep_only(world, &entry, files)?;
        } else {
            system.remove(&entry).map_err(|error| Box::new(unwritable(&entry, &error)))?;
        }
    }
    Ok(())
}

fn manifest_file(deliverable: &Deliverable) -> ManifestFile {
    ManifestFile { b3: deliverable.blob.digest.to_string(), size: deliverable.blob.size }
}

fn place(world: &World, folder: &Path, deliverable: &Deliverable) -> OutputFile {
    let Deliverable { name, blob, executable } = deliverable;
    let path: PathBuf = folder.join(name);
    let same_size = world.system().stamp(&path).is_ok_and(|stamp| stamp.size == blob.size);
    if !(same_size && crate::input::file_digest::of(world, &path).is_ok_and(|digest| digest == blob.digest)) {
        world.materialise(blob, &path, *executable);
    }
    OutputFile { path, size: blob.size, digest: blob.digest.to_string() }
}

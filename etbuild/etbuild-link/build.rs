//! Puts the sources of the device crates and the project templates into the library, so that an installed etbuild works
//! without its repository.

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let repository = fs::canonicalize(Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../.."))?;
    let crates = folders(&device_crates(&repository)?, &["Cargo.toml", "src"])?;
    let mut templates = subfolders(&repository.join("templates"))?;
    let [web, library] = ["web", "library"].map(|name| folders(&[repository.join("templates").join(name)], &["."]));
    let (web, library) = (web?, library?);
    templates.retain(|folder| ["Cargo.toml", "Cargo.toml.tera"].iter().any(|name| folder.join(name).is_file())); // The others are not of projects.
    let templates = folders(&templates, &["."])?;
    let root = fs::canonicalize(repository.join("Cargo.toml"))?;
    let lock = fs::canonicalize(repository.join("Cargo.lock"))?;
    println!("cargo::rerun-if-changed={}", root.display());
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = format!(
        "/// The device crates: manifest and `src`.\npub static CRATES: &[EmbeddedFolder] = {crates};\n\
         /// The project templates.\npub static TEMPLATES: &[EmbeddedFolder] = {templates};\n\
         /// The package for JavaScript.\npub static WEB: &[EmbeddedFolder] = {web};\n\
         /// The package for firmware.\npub static LIBRARY: &[EmbeddedFolder] = {library};\n\
         /// The manifest of the workspace that the device crates belong to.\n\
         pub static WORKSPACE_MANIFEST: &str = include_str!({root:?});\n\
         /// The versions of third-party crates, with their digests.\npub static LOCK: &str = include_str!({lock:?});\n"
    );
    fs::write(Path::new(&env::var("OUT_DIR")?).join("embedded.rs"), text)?;
    Ok(())
}

/// The folders of the crates that may be linked on a device, sorted by the crates' names.
fn device_crates(repository: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut parents = vec![repository.join("runtime"), repository.join("kernel-library")];
    parents.extend(subfolders(&repository.join("backends"))?);
    let mut crates = Vec::new();
    for parent in parents {
        crates.extend(subfolders(&parent)?.into_iter().filter(|folder| name(folder).starts_with("et-")));
    }
    crates.retain(|folder| folder.join("Cargo.toml").is_file());
    crates.sort_by_key(|folder| name(folder));
    Ok(crates)
}

/// A Rust expression: for each folder its name and, sorted, the files below `parts` of it.
fn folders(folders: &[PathBuf], parts: &[&str]) -> Result<String, Failure> {
    let mut text = String::from("&[\n");
    for folder in folders {
        let mut files = Vec::new();
        for part in parts {
            collect(&folder.join(part), &mut files)?;
        }
        files.sort();
        writeln!(text, "    EmbeddedFolder {{ name: {:?}, files: &[", name(folder))?;
        for file in files {
            let file = fs::canonicalize(file)?;
            let path = file.strip_prefix(folder)?.to_str().ok_or("a path that is not UTF-8")?.replace('\\', "/");
            writeln!(text, "        EmbeddedFile {{ path: {path:?}, bytes: include_bytes!({file:?}) }},")?;
        }
        text.push_str("    ] },\n");
    }
    text.push(']');
    Ok(text)
}

/// All files at or below `path`, build outputs and hidden ones left out.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    println!("cargo::rerun-if-changed={}", path.display());
    if path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?.path();
        if !name(&entry).starts_with('.') && name(&entry) != "target" {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

/// The folders in `folder`, sorted by name; none where it does not exist.
fn subfolders(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    // To Cargo, a missing folder has always changed. One that comes to be is announced by the workspace's manifest.
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    let mut folders: Vec<PathBuf> = entries.into_iter().filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

//! Puts the sources of the device crates and the project templates into the library, so that an installed etbuild works
//! without its repository.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

type Failure = Box<dyn Error>;

/// The folders below `templates/shared`, with the templates that their files belong to as well.
const SHARED: &[(&str, &[&str])] = &[
    ("library", &["host-app", "language-app"]),
    ("process", &["diffusion-app", "host-app", "language-app", "prebuilt-app"]),
    ("text", &["language-app", "prebuilt-app"]),
];

fn main() -> Result<(), Failure> {
    let repository = fs::canonicalize(Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../.."))?;
    let crates = device_crates(&repository)?;
    let crates: Result<String, Failure> =
        crates.iter().map(|folder| embedded(folder, &[folder.as_path()], &["Cargo.toml", "src"])).collect();
    let folder = repository.join("templates");
    let [web, library] =
        ["web", "library"].map(|name| folder.join(name)).map(|folder| embedded(&folder, &[folder.as_path()], &["."]));
    let java = folder.join("java");
    let java = embedded(&java, &[java.as_path()], &["aar", "classes.jar"]);
    let swift = folder.join("swift");
    let swift = embedded(&swift, &[swift.as_path()], &["."]);
    let (crates, web, library, java, swift) = (crates?, web?, library?, java?, swift?);
    let mut templates = subfolders(&folder)?;
    templates.retain(|folder| ["Cargo.toml", "Cargo.toml.tera"].iter().any(|name| folder.join(name).is_file())); // The others are not of projects.
    let templates: Result<String, Failure> = templates.iter().map(|template| of_template(&folder, template)).collect();
    let templates = templates?;
    let root = fs::canonicalize(repository.join("Cargo.toml"))?;
    let lock = fs::canonicalize(repository.join("Cargo.lock"))?;
    println!("cargo::rerun-if-changed={}", root.display());
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = format!(
        "/// The device crates: manifest and `src`.\npub static CRATES: &[EmbeddedFolder] = &[\n{crates}];\n\
         /// The project templates.\npub static TEMPLATES: &[EmbeddedFolder] = &[\n{templates}];\n\
         /// The package for JavaScript.\npub static WEB: &[EmbeddedFolder] = &[\n{web}];\n\
         /// The package for Java and Android.\npub static JAVA: &[EmbeddedFolder] = &[\n{java}];\n\
         /// The package for Swift.\npub static SWIFT: &[EmbeddedFolder] = &[\n{swift}];\n\
         /// The package for firmware.\npub static LIBRARY: &[EmbeddedFolder] = &[\n{library}];\n\
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

/// A template: the files of its folder, and the files of the shared folders that the template uses.
fn of_template(templates: &Path, template: &Path) -> Result<String, Failure> {
    let name = name(template);
    let shared = SHARED.iter().filter(|(_, users)| users.contains(&name.as_str()));
    let shared: Vec<PathBuf> = shared.map(|(shared, _)| templates.join("shared").join(shared)).collect();
    let folders: Vec<&Path> = shared.iter().map(PathBuf::as_path).chain([template]).collect();
    embedded(template, &folders, &["."])
}

/// An element of a Rust slice: the name of a folder, and, sorted by path, the files below `parts` of folders.
fn embedded(named: &Path, folders: &[&Path], parts: &[&str]) -> Result<String, Failure> {
    let mut files = BTreeMap::new();
    for folder in folders {
        let mut found = Vec::new();
        for part in parts {
            collect(&folder.join(part), &mut found)?;
        }
        for file in found {
            let file = fs::canonicalize(file)?;
            let path = file.strip_prefix(folder)?.to_str().ok_or("a path that is not UTF-8")?.replace('\\', "/");
            files.insert(path, file);
        }
    }
    let mut text = format!("    EmbeddedFolder {{ name: {:?}, files: &[\n", name(named));
    for (path, file) in files {
        writeln!(text, "        EmbeddedFile {{ path: {path:?}, bytes: include_bytes!({file:?}) }},")?;
    }
    text.push_str("    ] },\n");
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

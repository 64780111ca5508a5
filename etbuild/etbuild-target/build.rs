//! Lists `targets/*.yaml` in a Rust file that includes each, so that the shipped targets travel inside the binary.
#![allow(clippy::disallowed_methods, reason = "a build script reads sources")]

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../targets");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut table = String::from("&[\n");
    for file in yaml_files(&folder)? {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.file_name().and_then(|name| name.to_str()).ok_or("a target file without a UTF-8 name")?;
        writeln!(table, "    (\"targets/{name}\", include_str!({:?})),", fs::canonicalize(&file)?)?;
    }
    table.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("shipped.rs"), table)?;
    Ok(())
}

/// The YAML files in `folder`, sorted by name.
fn yaml_files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    files.sort();
    Ok(files)
}

//! `cargo dev new op`: an operator's file from the template, and the two lines that make it known.

use std::fs;
use std::path::Path;

use crate::error::Error;

/// An identity operator with passing cases.
const TEMPLATE: &str = include_str!("../../../templates/operator/operator.rs");

/// Where operators live.
const SOURCES: &str = "kernel-library/et-ops/src";

/// Adds the operator to a folder; returns the obstacles.
pub fn run(root: &Path, folder: &str, operator: &str) -> Result<Vec<String>, Error> {
    let module = operator.trim_start_matches('_');
    let sources = root.join(SOURCES);
    let (modules, file) = (sources.join(format!("{folder}.rs")), sources.join(folder).join(format!("{module}.rs")));
    if !read(&sources.join("lib.rs"))?.contains(&format!("#[cfg(feature = \"{folder}\")]\npub mod {folder};")) {
        return Ok(vec![format!("`{folder}` is no folder of operators in {SOURCES}")]);
    }
    if !is_name(module) {
        return Ok(vec![format!("`{operator}` is not a name of lower-case letters, digits and underscores")]);
    }
    if file.exists() || et_ops::find(&format!("aten::{operator}.out")).is_some() {
        return Ok(vec![format!("there is an operator `{operator}`, or a file of its name, already")]);
    }
    let constant = module.to_uppercase();
    write(&file, &TEMPLATE.replace("placeholder", operator).replace("PLACEHOLDER", &constant))?;
    edit(&modules, |text| with_module(text, module))?;
    edit(&sources.join("catalogue.rs"), |text| {
        with_entry(text, operator, &format!("    &crate::{folder}::{module}::{constant},"))
    })?;
    Ok(Vec::new())
}

fn is_name(module: &str) -> bool {
    let letters = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_';
    module.starts_with(|first: char| first.is_ascii_lowercase()) && module.chars().all(letters)
}

/// The text of a folder's module with the operator's module declared in alphabetical order. Operators are the last block of modules.
fn with_module(text: &str, module: &str) -> String {
    let line = format!("pub mod {module};");
    let mut lines: Vec<&str> = text.lines().collect();
    let is_module = |line: &&str| line.starts_with("pub mod ");
    let end = lines.iter().rposition(is_module).map_or(lines.len(), |last| last + 1);
    let start = lines[..end].iter().rposition(|line| !is_module(line)).map_or(0, |before| before + 1);
    let place = start + lines[start..end].partition_point(|other| **other < *line);
    lines.insert(place, &line);
    lines.join("\n") + "\n"
}

/// The text of `catalogue.rs` with the entry, in the order of registered names.
fn with_entry(text: &str, operator: &str, entry: &str) -> String {
    let name = format!("aten::{operator}.out");
    let earlier = et_ops::OPERATORS.partition_point(|other| other.name() < &*name);
    let mut lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("    &crate::")).unwrap_or(lines.len());
    lines.insert((first + earlier).min(lines.len()), entry);
    lines.join("\n") + "\n"
}

fn edit(path: &Path, change: impl FnOnce(&str) -> String) -> Result<(), Error> {
    write(path, &change(&read(path)?))
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::file(path, error))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|error| Error::file(path, error))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;
    use crate::tracked;
    use crate::workspace;

    /// The crates of the operator catalogue, with their dependencies.
    const CRATES: [&str; 4] =
        ["runtime/et-core/", "kernel-library/et-signal/", "kernel-library/et-ops/", "kernel-library/et-conformance/"];

    /// A folder in Cargo's target folder, so that a second run compiles little.
    fn copy_of_the_crates() -> PathBuf {
        let test = std::env::current_exe().unwrap();
        let copy = test.ancestors().nth(3).unwrap().join("tmp/new-operator");
        let root = workspace::root();
        let files = tracked::files(&root).unwrap();
        for file in
            files.iter().filter(|file| CRATES.iter().any(|part| file.starts_with(part)) || *file == "Cargo.lock")
        {
            let path = copy.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(root.join(file), path).unwrap();
        }
        // The workspace without the crates that are not copied.
        let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
        let absent = |line: &str| ["\"etbuild/", "\"cache/", "\"backends/"].iter().any(|part| line.contains(part));
        let lines = manifest.lines().filter(|line| !absent(line));
        fs::write(copy.join("Cargo.toml"), lines.collect::<Vec<_>>().join("\n")).unwrap();
        copy
    }

    #[test]
    fn an_operator_from_the_template_is_one_file_and_two_lines_and_compiles() {
        let copy = copy_of_the_crates();
        let read = |name: &str| fs::read_to_string(copy.join(SOURCES).join(name)).unwrap();
        let before = ["elementwise.rs", "catalogue.rs"].map(read);
        let _ = fs::remove_file(copy.join(SOURCES).join("elementwise/zeroth_of_all.rs"));
        assert_eq!(run(&copy, "elementwise", "zeroth_of_all").unwrap(), Vec::<String>::new());
        for (before, after) in before.iter().zip(["elementwise.rs", "catalogue.rs"].map(read)) {
            assert_eq!(after.lines().count(), before.lines().count() + 1);
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["check", "--quiet", "--offline", "-p", "et-ops", "--features", "std,catalogue"]);
        cargo.current_dir(&copy).env("CARGO_TARGET_DIR", copy.join("target")).env("CARGO_PROFILE_DEV_DEBUG", "0");
        let output = cargo.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
        assert_eq!(run(&copy, "elementwise", "zeroth_of_all").unwrap().len(), 1);
    }

    #[test]
    fn an_invalid_or_existing_name_is_refused() {
        for name in ["Trunc", "a-b", "", "_", "relu", "_softmax"] {
            assert_eq!(run(&workspace::root(), "elementwise", name).unwrap().len(), 1, "{name}");
        }
        for folder in ["", "element", "math", "../etbuild"] {
            assert_eq!(run(&workspace::root(), folder, "zeroth_of_all").unwrap().len(), 1, "{folder}");
        }
    }
}

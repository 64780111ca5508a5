//! `cargo dev new backend`: instantiates the template of a backend, two crates, and registers the backend.

use std::fs;
use std::path::Path;

use crate::error::Error;

/// The files of both crates. The template refuses every node and passes the conformance suite.
const FILES: [(&str, &str); 5] = [
    ("etbuild-placeholder/Cargo.toml", include_str!("../../../templates/backend/etbuild-placeholder/Cargo.toml")),
    ("etbuild-placeholder/src/lib.rs", include_str!("../../../templates/backend/etbuild-placeholder/src/lib.rs")),
    (
        "etbuild-placeholder/tests/conformance.rs",
        include_str!("../../../templates/backend/etbuild-placeholder/tests/conformance.rs"),
    ),
    ("et-placeholder/Cargo.toml", include_str!("../../../templates/backend/et-placeholder/Cargo.toml")),
    ("et-placeholder/src/lib.rs", include_str!("../../../templates/backend/et-placeholder/src/lib.rs")),
];

/// The lines that register a backend: the file, the line before, and the new lines.
const LINES: [(&str, &str, &str); 6] = [
    ("Cargo.toml", "    \"backends/etbuild-*\",", "    \"backends/placeholder/et*\","),
    (
        "Cargo.toml",
        "etbuild-backend = { path = \"backends/etbuild-backend\" }",
        "et-placeholder = { path = \"backends/placeholder/et-placeholder\" }\n\
         etbuild-placeholder = { path = \"backends/placeholder/etbuild-placeholder\" }",
    ),
    (
        "etbuild/etbuild-dev/arrows.toml",
        "may-use = [\"et-core\", \"et-ops\", \"etbuild-ir\", \"etbuild-weights\"]",
        "\n[et-placeholder]\nthird-party = false\nmay-use = [\"et-core\", \"et-runtime\"]\n\n\
         [etbuild-placeholder]\nmay-use = [\"et-placeholder\", \"etbuild-backend\", \"etbuild-ir\"]",
    ),
    (
        "etbuild/etbuild/Cargo.toml",
        "etbuild-backend.workspace = true",
        "et-placeholder.workspace = true\netbuild-placeholder.workspace = true",
    ),
    (BACKENDS, "pub static BACKENDS: &[&dyn Backend] = &[", "    &etbuild_placeholder::BACKEND,"),
    (
        BACKENDS,
        "pub static ENGINES: &[Engine] = &[",
        "    Engine { id: et_placeholder::ID, make: |host| Box::new(et_placeholder::delegate(host.workers)), problem: || None },",
    ),
];

/// The list of backends.
const BACKENDS: &str = "etbuild/etbuild/src/engines.rs";

/// Adds the backend; returns the obstacles.
pub fn run(root: &Path, name: &str) -> Result<Vec<String>, Error> {
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|character| character.is_ascii_lowercase() || character.is_ascii_digit());
    if !is_name {
        return Ok(vec![format!("`{name}` is not a name of lower-case letters and digits")]);
    }
    let folder = root.join("backends").join(name);
    if folder.exists() {
        return Ok(vec![format!("there is a backend `{name}` already")]);
    }
    for (path, text) in FILES {
        write(&folder.join(named(path, name)), &named(text, name))?;
    }
    let mut findings = Vec::new();
    for (path, before, lines) in LINES {
        let file = root.join(path);
        let text = fs::read_to_string(&file).map_err(|error| Error::file(&file, error))?;
        match inserted(&text, before, &named(lines, name)) {
            Some(text) => write(&file, &text)?,
            None => findings.push(format!("{path}: the line `{before}` is not there; add what belongs behind it")),
        }
    }
    Ok(findings)
}

/// The text with the name in the place of the template's.
fn named(text: &str, name: &str) -> String {
    let (first, rest) = name.split_at(1);
    text.replace("placeholder", name).replace("Placeholder", &format!("{}{rest}", first.to_uppercase()))
}

/// The text with lines after the line `before`. An empty list that `before` begins is opened.
fn inserted(text: &str, before: &str, lines: &str) -> Option<String> {
    let closed = format!("{before}];");
    if text.lines().any(|line| line == closed) {
        return Some(text.replacen(&closed, &format!("{before}\n{lines}\n];"), 1));
    }
    let place = text.lines().position(|line| line == before)?;
    let mut all: Vec<&str> = text.lines().collect();
    all.insert(place + 1, lines);
    Some(all.join("\n") + "\n")
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(path, text)).map_err(|error| Error::file(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn every_list_of_backends_gets_its_lines() {
        let copy = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("tmp/new-backend");
        let _ = fs::remove_dir_all(&copy);
        for (path, _, _) in LINES {
            let text = fs::read_to_string(workspace::root().join(path)).unwrap();
            write(&copy.join(path), &text).unwrap();
        }
        assert_eq!(run(&copy, "zeroth").unwrap(), Vec::<String>::new());
        let read = |path: &str| fs::read_to_string(copy.join(path)).unwrap();
        assert!(read("Cargo.toml").contains("\"backends/zeroth/et*\","));
        assert!(read("etbuild/etbuild-dev/arrows.toml").contains("[etbuild-zeroth]"));
        assert!(read(BACKENDS).contains("&etbuild_zeroth::BACKEND,\n"));
        assert!(read("backends/zeroth/et-zeroth/src/lib.rs").contains("\"EtbuildZeroth\""));
        assert_eq!(run(&copy, "zeroth").unwrap(), ["there is a backend `zeroth` already"]);
    }

    #[test]
    fn an_invalid_name_is_refused() {
        for name in ["Cpu", "a-b", "", "9", "a_b"] {
            assert_eq!(run(&workspace::root(), name).unwrap().len(), 1, "{name}");
        }
    }
}

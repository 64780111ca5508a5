//! The shape of source files.

use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::tracked;

/// The most lines that a source file may have.
const LONGEST: usize = 600;

/// Every source file without an opening doc comment, with too many lines, or with a name such as `utils`.
pub fn breaches(root: &Path) -> Result<Vec<String>, Error> {
    let mut findings = Vec::new();
    for name in tracked::files(root)?.iter().filter(|name| name.ends_with(".rs")) {
        let path = root.join(name);
        let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
        findings.extend(of_file(name, &text));
    }
    Ok(findings)
}

fn of_file(name: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
    let rules = [
        (!text.starts_with("//!"), "does not open with `//!`".to_owned()),
        (lines > LONGEST, format!("has {lines} lines, more than {LONGEST}")),
        (matches!(&*stem, "utils" | "util" | "helpers" | "misc" | "common"), "has a name that says nothing".to_owned()),
    ];
    rules.into_iter().filter(|(broken, _)| *broken).map(|(_, rule)| format!("{name}: {rule}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_opens_with_documentation_and_is_short() {
        assert_eq!(of_file("src/shape.rs", "//! Shapes.\n"), Vec::<String>::new());
        assert_eq!(of_file("src/utils.rs", &"\n".repeat(601)).len(), 3);
    }
}

//! The tests that `docs/reliability.md` names exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::tracked;

const TABLE: &str = "docs/reliability.md";

/// Every test that the table of faults names and that no source file has, and every fault without a test.
pub fn breaches(root: &Path) -> Result<Vec<String>, Error> {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|error| Error::file(root.join(name), error));
    let mut known = BTreeSet::new();
    for name in tracked::files(root)?.iter().filter(|name| name.ends_with(".rs")) {
        known.extend(functions(&read(name)?).map(str::to_owned));
        known.extend(Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    Ok(read(TABLE)?.lines().filter(|line| line.starts_with("| F")).flat_map(|row| of_row(row, &known)).collect())
}

fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim_start().strip_prefix("fn ")?.split('(').next())
}

/// The last cell of a row names tests between back quotes: functions, and files of them with or without their folder.
fn of_row(row: &str, known: &BTreeSet<String>) -> Vec<String> {
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    let (fault, tests) = (cells[0].split(' ').next().unwrap_or_default(), cells[cells.len() - 1]);
    let named: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
    let is_known = |name: &str| name.contains('-') || known.contains(name.rsplit('/').next().unwrap_or(name));
    let missing =
        named.iter().filter(|name| !is_known(name)).map(|name| format!("{TABLE}: no test `{name}` ({fault})"));
    let none = named.is_empty().then(|| format!("{TABLE}: no test for {fault}"));
    missing.chain(none).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_tests_that_exist() {
        let known = functions("    fn one() {\nfn other(").map(str::to_owned).collect();
        assert_eq!(of_row("| F01 a fault | a wall | `one`; `other` |", &known), [""; 0]);
        assert_eq!(of_row("| F02 x | y | `third` |", &known), ["docs/reliability.md: no test `third` (F02)"]);
        assert_eq!(of_row("| F03 x | y | none |", &known), ["docs/reliability.md: no test for F03"]);
    }
}

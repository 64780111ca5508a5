//! The imports within a crate: the modules of a folder import each other in one direction.
//!
//! An import between two files counts for their nearest common folder, as an arrow from the module with the one to the module with the
//! other. Imports between a module and the modules below it do not count, so that a list of entries may name the entries, and the
//! entries the type of the list.

mod circle;
mod import;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use circle::circles;
use tree::Tree;

use crate::error::Error;
use crate::tracked;
use crate::workspace::{Arrows, Package};

/// The arrows between the modules of a folder, by the module with the import.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// Every circle of modules, and every arrow between the modules of a crate that the crate's table lacks.
pub fn breaches(root: &Path, packages: &[Package], table: &BTreeMap<String, Arrows>) -> Result<Vec<String>, Error> {
    let files = tracked::files(root)?;
    let mut findings = Vec::new();
    for package in packages {
        let tree = read(root, package, &files)?;
        let edges = tree.edges();
        let Some(arrows) = table.get(&package.name) else { continue };
        findings.extend(of_circles(&package.name, &edges, &arrows.circles));
        if let Some(rows) = &arrows.modules {
            let edges = edges.get("").cloned().unwrap_or_default();
            findings.extend(of_table(&package.name, &tree.top(), &edges, rows));
        }
    }
    Ok(findings)
}

fn read(root: &Path, package: &Package, files: &[String]) -> Result<Tree, Error> {
    let prefix = format!("{}/src/", package.folder.display());
    let mut tree = Tree::default();
    for name in files {
        if let Some(inner) = name.strip_prefix(&prefix).and_then(|inner| inner.strip_suffix(".rs")) {
            let path = root.join(name);
            let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
            tree.add(inner, &text);
        }
    }
    Ok(tree)
}

/// The circles of a crate that the table does not have, and rows of circles that are gone.
fn of_circles(package: &str, edges: &BTreeMap<String, Edges>, known: &[String]) -> Vec<String> {
    let found: Vec<String> = edges.iter().flat_map(|(folder, edges)| of_folder(folder, edges)).collect();
    let new = found.iter().filter(|circle| !known.contains(circle));
    let new = new.map(|circle| format!("{package}: modules import each other: {circle}"));
    let gone = known.iter().filter(|circle| !found.contains(circle));
    new.chain(gone.map(|circle| format!("arrows.toml: {package} has no circle `{circle}`"))).collect()
}

fn of_folder(folder: &str, edges: &Edges) -> Vec<String> {
    let place = if folder.is_empty() { String::new() } else { format!("{folder}: ") };
    circles(edges).iter().map(|circle| format!("{place}{}", circle.join(" -> "))).collect()
}

fn of_table(
    package: &str,
    modules: &BTreeSet<String>,
    edges: &Edges,
    rows: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let named: BTreeSet<&String> = rows.keys().collect();
    let missing = modules.iter().filter(|module| !named.contains(module));
    let missing = missing.map(|module| format!("arrows.toml: {package} has no row for module `{module}`"));
    let unknown = named.iter().filter(|module| !modules.contains(**module));
    let unknown = unknown.map(|module| format!("arrows.toml: {package} has no module `{module}`"));
    let allowed = |from: &String, to: &String| rows.get(from).is_none_or(|row| row.contains(to));
    let arrows = edges.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
    let forbidden = arrows.filter(|(from, to)| !allowed(from, to));
    let forbidden = forbidden.map(|(from, to)| format!("{package}: module {from} -> {to}: not an allowed arrow"));
    missing.chain(unknown).chain(forbidden).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        files.iter().for_each(|(name, text)| tree.add(name, text));
        tree
    }

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        of_circles("c", &tree(files).edges(), &[])
    }

    #[test]
    fn siblings_that_import_each_other_are_a_circle() {
        let files = [
            ("lib", "mod a;\nmod b;\nmod c;"),
            ("a", "use crate::b::B;"),
            ("b", "use crate::c;"),
            ("c", "fn f() { crate::a::run() }"),
        ];
        assert_eq!(found(&files), ["c: modules import each other: a -> b -> c -> a"]);
        assert_eq!(found(&files[..3]), [""; 0]);
    }

    #[test]
    fn a_known_circle_has_a_row_for_as_long_as_it_is_there() {
        let files = [("lib", "mod a;\nmod b;"), ("a", "use crate::b::B;"), ("b", "use crate::a::A;")];
        let row = ["a -> b -> a".to_owned()];
        assert_eq!(of_circles("c", &tree(&files).edges(), &row), [""; 0]);
        assert_eq!(of_circles("c", &tree(&files[..2]).edges(), &row), ["arrows.toml: c has no circle `a -> b -> a`"]);
    }

    #[test]
    fn a_re_export_leads_to_the_module_behind_it() {
        let lib = ("lib", "mod a;\nmod b;\npub use a::A;");
        assert_eq!(
            found(&[lib, ("a", "use crate::b;"), ("b", "use crate::A;")]),
            ["c: modules import each other: a -> b -> a"]
        );
    }

    #[test]
    fn modules_below_count_for_the_folder_in_common() {
        let files = [
            ("lib", "mod a;\nmod b;"),
            ("a", "mod deep;"),
            ("a/deep", "use crate::b::{self, f};"),
            ("b", "mod inner;"),
            ("b/inner", "use super::super::a::deep::X;"),
        ];
        assert_eq!(found(&files), ["c: modules import each other: a -> b -> a"]);
    }

    #[test]
    fn a_list_and_its_entries_are_no_circle() {
        let files = [
            ("lib", "mod list;"),
            ("list", "mod entry;\npub struct T;\nuse entry::E;"),
            ("list/entry", "use super::T;"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn tests_and_comments_import_nothing() {
        let a = "// crate::b\nconst S: &str = \"crate::b::B\";\n#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n";
        assert_eq!(found(&[("lib", "mod a;\nmod b;"), ("a", a), ("b", "use crate::a::S;")]), [""; 0]);
    }

    #[test]
    fn the_table_of_a_crate_has_every_module_and_every_arrow() {
        let tree = tree(&[("lib", "mod a;\nmod b;"), ("a", "use crate::b;"), ("b", "")]);
        let breaches = |rows: &[(&str, &[&str])]| {
            let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let rows = rows.iter().map(|(name, row)| ((*name).to_owned(), names(row))).collect();
            of_table("c", &tree.top(), &tree.edges()[""], &rows)
        };
        assert_eq!(breaches(&[("a", &["b"]), ("b", &[])]), [""; 0]);
        assert_eq!(breaches(&[("a", &[]), ("b", &[])]), ["c: module a -> b: not an allowed arrow"]);
        let wrong = ["arrows.toml: c has no row for module `b`", "arrows.toml: c has no module `x`"];
        assert_eq!(breaches(&[("a", &["b"]), ("x", &[])]), wrong);
    }
}

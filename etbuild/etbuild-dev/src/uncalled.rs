//! Public functions of the kernel crates have callers. The compiler reports unused private functions only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::tracked;
use crate::workspace::Package;

const LIST: &str = "etbuild/etbuild-dev/uncalled.toml";

/// Folders whose code is linked into no program.
const UNLINKED: [&str; 5] = ["benches", "examples", "fuzz", "templates", "tests"];

/// The exceptions of each checked crate: a function name with the reason.
type Exceptions = BTreeMap<String, BTreeMap<String, String>>;

/// Public functions of the listed crates that no linked code names, except the listed functions, and list entries that
/// are out of date.
pub fn breaches(root: &Path, packages: &[Package]) -> Result<Vec<String>, Error> {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|error| Error::file(root.join(name), error));
    let exceptions: Exceptions = toml::from_str(&read(LIST)?)?;
    let mut files = Vec::new();
    for name in tracked::files(root)?.into_iter().filter(|name| is_linked(name)) {
        let text = linked(&read(&name)?);
        files.push((name, text));
    }
    let folder = |name: &String| packages.iter().find(|package| package.name == *name).map(|found| &found.folder);
    let called: BTreeSet<&str> = files.iter().flat_map(|(_, text)| mentions(text)).collect();
    let of_crate = |(name, allowed): (&String, _)| match folder(name) {
        Some(folder) => of_crate(folder, allowed, &files, &called),
        None => vec![format!("{LIST}: there is no crate `{name}`")],
    };
    Ok(exceptions.iter().flat_map(of_crate).collect())
}

fn of_crate(
    folder: &Path,
    allowed: &BTreeMap<String, String>,
    files: &[(String, String)],
    called: &BTreeSet<&str>,
) -> Vec<String> {
    let own = files.iter().filter(|(name, _)| Path::new(name).starts_with(folder));
    let functions = own.flat_map(|(name, text)| functions(text).map(move |function| (name, function)));
    let uncalled: Vec<_> = functions.filter(|(_, function)| !called.contains(function)).collect();
    let is_uncalled = |function: &str| uncalled.iter().any(|(_, uncalled)| *uncalled == function);
    let new = uncalled.iter().filter(|(_, function)| !allowed.contains_key(*function));
    let new = new.map(|(name, function)| format!("{name}: nothing but tests calls the public function `{function}`"));
    let old = allowed.keys().filter(|function| !is_uncalled(function));
    new.chain(old.map(|function| format!("{LIST}: `{function}` is called, or is no public function"))).collect()
}

fn is_linked(name: &str) -> bool {
    let unlinked = name.split('/').any(|part| UNLINKED.contains(&part)) || name.ends_with("/test.rs");
    name.ends_with(".rs") && !unlinked
}

/// The source text without comments, imports and `#[cfg(test)]` items.
fn linked(text: &str) -> String {
    let (mut lines, mut code) = (text.lines(), String::new());
    while let Some(line) = lines.next() {
        let start = line.trim_start();
        let indent = line.len() - start.len();
        if start == "#[cfg(test)]" {
            skip_item(&mut lines, indent);
        } else if ["use ", "pub use ", "pub(crate) use "].iter().any(|import| start.starts_with(import)) {
            skip_to(&mut lines, line, |line| line.ends_with(';'));
        } else {
            code.push_str(line.split("//").next().unwrap_or_default());
            code.push('\n');
        }
    }
    code
}

/// Skips the attributes and the item after `#[cfg(test)]`: rustfmt closes a braced item at the indent of the first line.
fn skip_item<'a>(lines: &mut impl Iterator<Item = &'a str>, indent: usize) {
    let Some(first) = lines.find(|line| !line.trim_start().starts_with("#[")) else { return };
    let is_end = |line: &str| line.ends_with(';') || (line.ends_with('}') && line.find('}') == Some(indent));
    skip_to(lines, first, is_end);
}

fn skip_to<'a>(lines: &mut impl Iterator<Item = &'a str>, first: &'a str, is_end: impl Fn(&str) -> bool) {
    let ends_at_once = first.ends_with(';') || first.ends_with('}');
    if !ends_at_once {
        lines.find(|line| is_end(line));
    }
}

/// The public functions and the functions of public traits.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    let mut in_trait = false;
    text.lines().filter_map(move |line| {
        in_trait = line.starts_with("pub trait ") || (in_trait && line != "}");
        let public = line.trim_start().strip_prefix("pub ");
        let item = if in_trait { Some(line.trim_start()) } else { public }?;
        let item = ["const ", "unsafe "].iter().fold(item, |item, word| item.strip_prefix(word).unwrap_or(item));
        let name = item.strip_prefix("fn ")?;
        name.split(|letter| !is_part_of_name(letter)).next()
    })
}

/// The names in the text, without the names of functions at their definitions.
fn mentions(text: &str) -> impl Iterator<Item = &str> {
    let mut before = "";
    let names = text.split(|letter| !is_part_of_name(letter)).filter(|name| !name.is_empty());
    names.filter(move |name| std::mem::replace(&mut before, name) != "fn")
}

fn is_part_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
//! called_in_a_comment
use a::imported;
pub use b::{
    imported,
};
pub const fn one() {
    two();
}
fn two() {}
pub trait Shape {
    unsafe fn three(&self);
}
#[cfg(test)]
mod tests {
    fn four() {
        three();
    }
}
#[cfg(test)]
extern crate std;
pub(crate) fn five() {}
";

    fn check(allowed: &[&str]) -> Vec<String> {
        let allowed = allowed.iter().map(|name| ((*name).to_owned(), "a reason".to_owned())).collect();
        let files = [("et-x/src/lib.rs".to_owned(), linked(SOURCE))];
        let called = files.iter().flat_map(|(_, text)| mentions(text)).collect();
        of_crate(Path::new("et-x"), &allowed, &files, &called)
    }

    #[test]
    fn a_public_function_has_a_caller_outside_of_tests() {
        let names = ["one", "three"];
        let findings =
            names.map(|name| format!("et-x/src/lib.rs: nothing but tests calls the public function `{name}`"));
        assert_eq!(check(&[]), findings);
    }

    #[test]
    fn an_exception_is_a_public_function_without_a_caller() {
        assert_eq!(check(&["one", "three"]), Vec::<String>::new());
        assert_eq!(check(&["one", "three", "two"]).len(), 1);
    }

    #[test]
    fn imports_comments_and_tests_call_nothing() {
        let code = linked(SOURCE);
        assert!(["imported", "comment", "four", "extern"].iter().all(|word| !code.contains(word)), "{code}");
        assert!(code.contains("fn five"), "{code}");
    }

    #[test]
    fn tests_and_examples_are_not_linked() {
        assert!(is_linked("et-x/src/lib.rs"));
        assert!(
            ["et-x/tests/one.rs", "et-x/examples/b/main.rs", "et-x/src/a/test.rs"].iter().all(|name| !is_linked(name))
        );
    }
}

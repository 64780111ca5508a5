//! Keys of stages state every input: an implementation of `Keyed` takes its type apart, and leaves no field out.

use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::tracked;

/// The beginning of an implementation.
const START: &str = "impl Keyed for ";

/// Every implementation of `Keyed` that reads fields without taking the type apart, or that takes a type apart with `..`.
pub fn breaches(root: &Path) -> Result<Vec<String>, Error> {
    let mut findings = Vec::new();
    for name in tracked::files(root)?.iter().filter(|name| name.ends_with(".rs") && !name.ends_with("/keyed.rs")) {
        let path = root.join(name);
        let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
        findings.extend(of_file(&text).iter().map(|finding| format!("{name}: {finding}")));
    }
    Ok(findings)
}

fn of_file(text: &str) -> Vec<String> {
    text.split(START).skip(1).filter_map(of_implementation).collect()
}

fn of_implementation(text: &str) -> Option<String> {
    let body = text.split("\n}").next().unwrap_or_default();
    let of = body.split_whitespace().next().unwrap_or_default();
    if body.contains("..") {
        return Some(format!("the key of `{of}` leaves fields out with `..`"));
    }
    let taken = body.contains("let Self {") || body.contains("let Self(");
    (!taken || body.contains("self."))
        .then(|| format!("the key of `{of}` does not take the type apart: `let Self {{ ... }} = self`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(body: &str) -> Option<String> {
        of_file(&format!("impl Keyed for Plan {{\n    fn key() {{\n        {body}\n    }}\n}}\n")).pop()
    }

    #[test]
    fn a_key_takes_its_type_apart() {
        assert_eq!(finding("let Self { a, b } = self;"), None);
        assert!(finding("let Self { a, .. } = self;").unwrap().contains("`Plan` leaves fields out"));
        assert!(finding("key.option(\"a\", self.a)").unwrap().contains("`Plan` does not take the type apart"));
    }
}

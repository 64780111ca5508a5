//! Third-party crates: licences, bans and sources by `deny.toml`, the file of cargo-deny.

use std::collections::BTreeSet;
use std::fs;
use std::iter::Peekable;
use std::path::Path;
use std::vec::IntoIter;

use cargo_metadata::{CargoOpt, MetadataCommand, Package};
use serde::Deserialize;

use crate::error::Error;

/// The part of `deny.toml` that is read here. Every crate must come from the public registry.
#[derive(Deserialize)]
struct Rules {
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
}

/// The third-party crates that the rules refuse.
pub fn breaches(root: &Path) -> Result<Vec<String>, Error> {
    let path = root.join("deny.toml");
    let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
    let rules: Rules = toml::from_str(&text)?;
    let mut command = MetadataCommand::new();
    command.manifest_path(root.join("Cargo.toml")).features(CargoOpt::AllFeatures);
    let metadata = command.other_options(["--locked".to_owned()]).exec()?;
    let third_party = metadata.packages.iter().filter(|package| package.source.is_some());
    Ok(third_party.flat_map(|package| rules.breaches(package)).collect())
}

impl Rules {
    fn breaches(&self, package: &Package) -> Vec<String> {
        let name = &package.name;
        let mut found = Vec::new();
        if package.source.as_ref().is_some_and(|source| !source.is_crates_io()) {
            found.push(format!("{name} comes from elsewhere than the public registry"));
        }
        if self.bans.deny.iter().any(|ban| ban.name == name.as_str()) {
            found.push(format!("{name} is banned in deny.toml"));
        }
        let license = package.license.as_deref().unwrap_or_default();
        if !is_allowed(license, &self.licenses.allow) {
            found.push(format!("{name} has the license `{license}`, which deny.toml does not allow"));
        }
        found
    }
}

/// The words of an SPDX expression.
type Words<'a> = Peekable<IntoIter<&'a str>>;

/// Whether an SPDX expression can be met with allowed licenses. Old crates write `/` for `OR`. Text that is no expression cannot be
/// met.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().collect::<Vec<_>>().into_iter().peekable();
    any(&mut words, allowed) == Some(true) && words.next().is_none()
}

/// Alternatives between `OR`.
fn any(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut is_met = all(words, allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        is_met |= all(words, allowed)?;
    }
    Some(is_met)
}

/// Demands between `AND`.
fn all(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut is_met = one(words, allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        is_met &= one(words, allowed)?;
    }
    Some(is_met)
}

/// A license, or an expression in brackets. An exception behind `WITH` only permits more.
fn one(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    match words.next()? {
        "(" => {
            let is_met = any(words, allowed)?;
            words.next_if_eq(&")").map(|_| is_met)
        }
        license => {
            if words.next_if_eq(&"WITH").is_some() {
                words.next()?;
            }
            Some(allowed.contains(license))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_license_expression_is_met_by_one_alternative_and_all_demands() {
        let allowed = ["MIT", "Apache-2.0"].map(str::to_owned).into();
        for expression in
            ["MIT", "MIT/GPL-3.0", "GPL-3.0 OR Apache-2.0 WITH LLVM-exception", "(GPL-3.0 OR MIT) AND MIT"]
        {
            assert!(is_allowed(expression, &allowed), "{expression}");
        }
        for expression in
            ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND GPL-3.0", "(MIT", "MIT MIT", "MIT OR"]
        {
            assert!(!is_allowed(expression, &allowed), "{expression}");
        }
    }
}

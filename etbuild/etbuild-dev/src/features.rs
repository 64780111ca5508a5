//! Every feature of a device crate compiles without the other features: generated projects choose single features.

use std::path::Path;
use std::process::Stdio;

use crate::error::Error;
use crate::workspace::{Package, cargo};

/// Checks each device crate with no feature, and with each feature alone. Returns the errors and warnings.
pub fn breaches(root: &Path, packages: &[Package]) -> Result<Vec<String>, Error> {
    let device = packages.iter().filter(|package| package.name.starts_with("et-"));
    let mut found = Vec::new();
    for (package, feature) in device.flat_map(combinations) {
        let mut command = cargo(root);
        command.args([
            "check",
            "--quiet",
            "--lib",
            "--package",
            package,
            "--no-default-features",
            "--features",
            feature,
        ]);
        let output = command.stdout(Stdio::null()).output();
        let output = output.map_err(|error| Error::file("cargo", error))?;
        // Cargo repeats the warnings of a crate that is up to date.
        if !output.status.success() || !output.stderr.is_empty() {
            let said = String::from_utf8_lossy(&output.stderr);
            found.push(format!("{package} with the features [{feature}]:\n{said}"));
        }
    }
    Ok(found)
}

/// A crate with no feature and with each feature alone; no combination for a crate without features.
fn combinations(package: &Package) -> Vec<(&str, &str)> {
    let single = package.features.iter().map(String::as_str).filter(|feature| *feature != "default");
    let features: Vec<&str> = std::iter::once("").chain(single).collect();
    let few = if package.features.is_empty() { 0 } else { features.len() };
    features.into_iter().take(few).map(|feature| (package.name.as_str(), feature)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_checked_with_no_feature_and_with_each_alone() {
        let of = |features: &[&str]| Package {
            name: "et-x".to_owned(),
            features: features.iter().map(|feature| (*feature).to_owned()).collect(),
            ..Package::default()
        };
        assert_eq!(combinations(&of(&["a", "default"])), [("et-x", ""), ("et-x", "a")]);
        assert_eq!(combinations(&of(&[])), []);
    }
}

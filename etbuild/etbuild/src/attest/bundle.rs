//! Checking a folder of results against the manifest and the provenance, without a build.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use etbuild_diagnostic::{Code, Diagnostic, Span};
use serde_json::Value;

use super::{PROVENANCE, SBOM, Subject};

/// The mismatches of the folder; otherwise the names of the checked files.
pub fn check(folder: &Path) -> Result<Vec<String>, Vec<Diagnostic>> {
    let manifest = read(folder, "manifest.json")?.ok_or_else(|| vec![wrong(folder, "`manifest.json` is missing")])?;
    let files = manifest["files"].as_object().ok_or_else(|| vec![wrong(folder, "`manifest.json` lists no files")])?;
    let mut found = Vec::new();
    let mut subjects = BTreeMap::new();
    for (name, stated) in files {
        match subject(folder, name) {
            Ok(subject) if stated["b3"] == subject.blake3.as_str() => {
                subjects.insert(name.clone(), subject);
            }
            Ok(_) => found.push(wrong(folder, &format!("`{name}` differs from the manifest"))),
            Err(message) => found.push(wrong(folder, &message)),
        }
    }
    if let Some(provenance) = read(folder, PROVENANCE)? {
        found.extend(compare(folder, PROVENANCE, &subjects, &stated_subjects(&provenance)));
        found.extend(other_stages(folder, &manifest, &provenance));
    }
    if let Some(sbom) = read(folder, SBOM)? {
        found.extend(compare(folder, SBOM, &subjects, &stated_results(&sbom)));
    }
    if found.is_empty() { Ok(subjects.into_keys().collect()) } else { Err(found) }
}

/// Stages whose keys are not the same in the manifest and in the provenance. A manifest may have more: a deploy verifies.
fn other_stages(folder: &Path, manifest: &Value, provenance: &Value) -> Vec<Diagnostic> {
    let stages = provenance["predicate"]["buildDefinition"]["internalParameters"]["stages"].as_object();
    let other = stages.into_iter().flatten().filter(|(name, key)| manifest["stages"][name.as_str()] != **key);
    let message = |name: &String| format!("`manifest.json` and `{PROVENANCE}` have different keys for stage {name}");
    other.map(|(name, _)| wrong(folder, &message(name))).collect()
}

/// BLAKE3 and SHA-256 by name.
type Stated = BTreeMap<String, [Option<String>; 2]>;

fn stated_subjects(provenance: &Value) -> Stated {
    let subjects = provenance["subject"].as_array().into_iter().flatten();
    let digest = |subject: &Value, name: &str| subject["digest"][name].as_str().map(str::to_owned);
    let stated = |subject: &Value| {
        Some((subject["name"].as_str()?.to_owned(), ["blake3", "sha256"].map(|name| digest(subject, name))))
    };
    subjects.filter_map(stated).collect()
}

fn stated_results(sbom: &Value) -> Stated {
    let components = sbom["components"].as_array().into_iter().flatten();
    let results =
        components.filter(|component| component["bom-ref"].as_str().is_some_and(|name| name.starts_with("result:")));
    let hash = |component: &Value, name: &str| {
        let hashes = component["hashes"].as_array()?;
        Some(hashes.iter().find(|hash| hash["alg"] == name)?["content"].as_str()?.to_owned())
    };
    let stated = |component: &Value| {
        Some((component["name"].as_str()?.to_owned(), ["BLAKE3", "SHA-256"].map(|name| hash(component, name))))
    };
    results.filter_map(stated).collect()
}

/// Both must be about the same files, with the same digests.
fn compare(folder: &Path, document: &str, subjects: &BTreeMap<String, Subject>, stated: &Stated) -> Vec<Diagnostic> {
    let missing = subjects.keys().filter(|name| !stated.contains_key(*name));
    let missing = missing.map(|name| wrong(folder, &format!("`{document}` does not mention `{name}`")));
    let other = stated.iter().filter(|(name, digests)| {
        let now = subjects.get(*name).map(|subject| [Some(subject.blake3.clone()), Some(subject.sha256.clone())]);
        now.as_ref() != Some(*digests)
    });
    let other = other.map(|(name, _)| wrong(folder, &format!("`{name}` differs from `{document}`")));
    missing.chain(other).collect()
}

/// A file of the folder itself: a manifest has no say about files elsewhere.
fn subject(folder: &Path, name: &str) -> Result<Subject, String> {
    let mut parts = Path::new(name).components();
    if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
        return Err(format!("`{name}` is outside the folder"));
    }
    let is_file = std::fs::symlink_metadata(folder.join(name)).is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Err(format!("`{name}` is missing or not a file"));
    }
    Subject::read(folder, name).map_err(|error| format!("failed to read `{name}`: {error}"))
}

/// A JSON file; `None` for a missing file.
fn read(folder: &Path, name: &str) -> Result<Option<Value>, Vec<Diagnostic>> {
    let Ok(bytes) = std::fs::read(folder.join(name)) else { return Ok(None) };
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|error| vec![wrong(folder, &format!("`{name}` is not JSON: {error}"))])
}

fn wrong(folder: &Path, message: &str) -> Diagnostic {
    Diagnostic::error(Code::BundleMismatch, message).at(Span::file(folder.join("manifest.json").display().to_string()))
}

//! Provenance: an in-toto statement (<https://in-toto.io/Statement/v1>) with a SLSA predicate (<https://slsa.dev/provenance/v1>).
//! Without time and host: equal builds have equal statements.

use etbuild_engine::UnitReport;
use etbuild_inspect::{Materials, SourceFile};
use serde_json::{Value, json};

use super::Subject;
use crate::repository;

/// The file's name in a folder of results.
pub const PROVENANCE: &str = "provenance.intoto.json";

/// How these results came about.
pub fn provenance(materials: &Materials, report: &UnitReport, overrides: &[String], subjects: &[Subject]) -> Value {
    let stages: serde_json::Map<String, Value> =
        report.stages.iter().map(|row| (row.name(), Value::from(row.key.as_str()))).collect();
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects.iter().map(subject).collect::<Vec<_>>(),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:etbuild:deploy:1",
                "externalParameters": {
                    "recipe": materials.file, "unit": materials.instance(), "overrides": overrides,
                },
                "internalParameters": { "stages": stages, "tools": materials.tools },
                "resolvedDependencies": materials.sources.iter().map(dependency).collect::<Vec<_>>(),
            },
            "runDetails": { "builder": { "id": format!("urn:etbuild:{}", env!("CARGO_PKG_VERSION")) } },
        },
    })
}

fn subject(subject: &Subject) -> Value {
    json!({ "name": subject.name, "digest": { "blake3": subject.blake3, "sha256": subject.sha256 } })
}

fn dependency(source: &SourceFile) -> Value {
    let mut digest = json!({ "blake3": source.digest });
    if let Some(revision) = source.commit.clone().or_else(|| repository::revision(&source.path)) {
        digest["gitCommit"] = revision.into();
    }
    json!({ "name": source.path, "digest": digest })
}

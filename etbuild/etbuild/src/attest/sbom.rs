//! A bill of materials: CycloneDX 1.5 as JSON (<https://cyclonedx.org/docs/1.5/json/>), models and data among the components.

use etbuild_inspect::{Materials, Role, SourceFile};
use serde_json::{Value, json};

use super::Subject;

/// The file's name in a folder of results.
pub const SBOM: &str = "sbom.cdx.json";

/// The components of these results.
pub fn sbom(materials: &Materials, subjects: &[Subject]) -> Value {
    let unit = materials.instance();
    let sources = materials.sources.iter().map(source);
    let tools = materials.tools.iter().map(|(name, version)| tool(name, version));
    let results = subjects.iter().map(result);
    let components: Vec<Value> = sources.chain(tools).chain(results).collect();
    let references: Vec<Value> = components.iter().map(|component| component["bom-ref"].clone()).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": { "type": "application", "bom-ref": unit, "name": unit } },
        "components": components,
        "dependencies": [{ "ref": unit, "dependsOn": references }],
    })
}

fn source(source: &SourceFile) -> Value {
    let kind = match source.role {
        Role::Model => "machine-learning-model",
        Role::Data => "data",
        Role::File => "file",
    };
    let path = source.path.display().to_string();
    let hashes = json!([{ "alg": "BLAKE3", "content": source.digest }]);
    json!({ "type": kind, "bom-ref": format!("source:{path}"), "name": path, "hashes": hashes })
}

/// The tools that built the results and are no part of the results.
fn tool(name: &str, version: &str) -> Value {
    json!({
        "type": "application", "bom-ref": format!("tool:{name}"), "name": name, "version": version, "scope": "excluded",
    })
}

fn result(subject: &Subject) -> Value {
    let hashes = json!([
        { "alg": "BLAKE3", "content": subject.blake3 }, { "alg": "SHA-256", "content": subject.sha256 },
    ]);
    json!({ "type": "file", "bom-ref": format!("result:{}", subject.name), "name": subject.name, "hashes": hashes })
}

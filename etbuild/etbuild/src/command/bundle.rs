//! `etbuild verify FOLDER`: results against their manifest, bill of materials and provenance, offline.

use std::path::PathBuf;

use super::Outcome;
use crate::attest;
use crate::session::Session;

pub fn run(session: &Session, folders: &[PathBuf]) -> Outcome {
    let mut checked = Vec::new();
    let mut found = Vec::new();
    for folder in folders {
        match attest::check(folder) {
            Ok(files) => checked.push(serde_json::json!({ "folder": folder, "files": files })),
            Err(wrong) => found.extend(wrong),
        }
    }
    let value = serde_json::json!({
        "schema": "etbuild.bundle/1", "ok": found.is_empty(), "folders": checked, "diagnostics": found,
    });
    let text = format!("verified {} of {} result folders", checked.len(), folders.len());
    session.terminal.present(&value, &text);
    session.terminal.explain(&found);
    Ok(found)
}

//! `etbuild bundle list`.

use std::path::Path;

use et_update::{Entry, Manifest};
use serde_json::{Value, json};

use super::open::open;
use crate::command::Outcome;
use crate::render::Table;
use crate::session::Session;

pub fn run(session: &Session, path: &Path) -> Outcome {
    let bundle = open(path, None)?;
    let manifest = &bundle.manifest;
    let targets: Vec<Value> = manifest.entries.iter().map(entry_value).collect();
    let stored = manifest.body_size();
    let value = json!({
        "name": manifest.name, "signed": bundle.is_signed(), "stored": stored, "targets": targets,
    });
    let signed = if bundle.is_signed() { "signed" } else { "not signed" };
    let whole: u64 = manifest.entries.iter().map(size).sum();
    let text = format!(
        "{}\n{}: {stored} bytes of pieces for {whole} bytes of files; {signed}",
        table(manifest),
        manifest.name
    );
    session.terminal.succeed("chips", value, &text);
    Ok(Vec::new())
}

fn table(manifest: &Manifest) -> String {
    let mut table = Table::new(&["target", "platform", "chip", "instruction sets", "file", "bytes", "BLAKE3"]);
    for entry in &manifest.entries {
        for file in &entry.files {
            table.row(vec![
                entry.target.clone(),
                entry.platform.clone(),
                entry.chip.clone().unwrap_or_else(|| "any".to_owned()),
                entry.instruction_sets.join(" "),
                file.name.clone(),
                file.version.size.to_string(),
                file.version.digest.to_hex().chars().take(16).collect(),
            ]);
        }
    }
    table.render()
}

fn entry_value(entry: &Entry) -> Value {
    let files: Vec<Value> = entry.files.iter().map(|file| {
        json!({ "name": file.name, "executable": file.executable, "size": file.version.size, "digest": file.version.digest.to_string() })
    }).collect();
    json!({
        "target": entry.target, "platform": entry.platform, "chip": entry.chip, "instruction_sets": entry.instruction_sets, "files": files,
    })
}

/// The bytes of the files of a target.
fn size(entry: &Entry) -> u64 {
    entry.files.iter().map(|file| file.version.size).sum()
}

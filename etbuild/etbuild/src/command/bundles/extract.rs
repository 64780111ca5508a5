//! `etbuild bundle extract`.

use std::path::Path;

use et_update::{Entry, Error, Manifest};
use etbuild_diagnostic::{Code, Diagnostic};
use serde_json::json;

use super::open::{failed, no_target, open, write};
use crate::command::Outcome;
use crate::session::Session;

pub fn run(session: &Session, path: &Path, folder: &Path, key: Option<&str>) -> Outcome {
    let [target] = &session.global.targets[..] else {
        return Err(vec![
            Diagnostic::error(Code::Usage, "the target is missing")
                .help("name one target of the bundle with `--target`"),
        ]);
    };
    let mut bundle = open(path, key)?;
    let entry = find(&bundle.manifest, target).map_err(failed)?.clone();
    let written = entry.files.iter().map(|file| write(&mut bundle, file, folder)).collect::<Result<Vec<_>, _>>()?;
    let value = json!({ "target": entry.target, "files": written });
    let lines: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    session.terminal.succeed("chips-extract", value, &lines.join("\n"));
    Ok(Vec::new())
}

fn find<'a>(manifest: &'a Manifest, target: &str) -> Result<&'a Entry, Error> {
    let found = manifest.entries.iter().find(|entry| entry.target == target);
    found.ok_or_else(|| no_target(manifest, target))
}

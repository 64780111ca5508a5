//! `etbuild compile`: the program file of a model, without a binary.

use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Code, Diagnostic, unwritable};
use etbuild_engine::{Mode, program_file_with_fallback};

use super::Outcome;
use crate::arguments;
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Compile) -> Outcome {
    let [model] = arguments.recipes.recipes.as_slice() else {
        let message = "a program file is compiled from one model";
        return Err(vec![Diagnostic::error(Code::Usage, message).help("call `etbuild compile` for each model")]);
    };
    if let Some(target) = session.global.targets.first() {
        let message = format!("a program file is compiled for this machine, not for `{target}`");
        let help = format!("`etbuild build --target {target}` makes the program file for a target beside the binary");
        return Err(vec![Diagnostic::error(Code::Usage, message).help(help)]);
    }
    let overrides = session.recipe_overrides(&arguments.recipes)?;
    let (bytes, fallback) = program_file_with_fallback(&session.world(Mode::Build)?, model, &overrides)?;
    let path = arguments.program.clone().unwrap_or_else(|| default_path(model));
    session.system.write(&path, &bytes, false).map_err(|error| vec![unwritable(&path, &error)])?;
    let value = serde_json::json!({ "program": path, "size": bytes.len(), "fallback": fallback, "diagnostics": [] });
    let note = fallback.map(|fallback| format!("\n{}", fallback.remark()));
    let text = format!("{}: {} bytes{}", path.display(), bytes.len(), note.unwrap_or_default());
    session.terminal.succeed("program", value, &text);
    Ok(Vec::new())
}

/// `NAME.pte` for a model of this name; the name of a checkpoint folder may have dots.
fn default_path(model: &Path) -> PathBuf {
    let is_file = model.extension().is_some_and(|ending| ["pt2", "yaml", "yml"].iter().any(|known| ending == *known));
    let name = if is_file { model.file_stem() } else { model.file_name() };
    PathBuf::from(format!("{}.pte", name.unwrap_or_default().display()))
}

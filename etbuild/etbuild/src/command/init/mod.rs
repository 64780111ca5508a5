//! `etbuild init`: a first recipe, a target file for a machine of one's own, or a crate for custom operators.

mod operators;
mod recipe;
mod target;

use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic, unwritable};

use super::Outcome;
use crate::arguments;
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Init) -> Outcome {
    match (&arguments.model, &arguments.name) {
        (word, Some(name)) if word.as_os_str() == "target" => target::run(session, arguments, name),
        (word, Some(folder)) if word.as_os_str() == "operators" => operators::run(session, arguments, folder),
        (model, None) => recipe::run(session, arguments, model),
        (_, Some(name)) => Err(vec![two_subjects(name)]),
    }
}

fn two_subjects(name: &str) -> Diagnostic {
    let message = format!("`init` takes one model, and `{name}` is one more argument");
    Diagnostic::error(Code::Usage, message)
        .help("write `etbuild init MODEL`, `etbuild init target NAME` or `etbuild init operators FOLDER`")
}

/// Writes a file that does not exist yet.
fn write(session: &Session, path: &Path, text: &str) -> Result<(), Vec<Diagnostic>> {
    if session.system.stamp(path).is_ok() {
        return Err(vec![exists(path)]);
    }
    let written = session.system.write(path, text.as_bytes(), false);
    written.map_err(|error| vec![unwritable(path, &error)])
}

fn exists(path: &Path) -> Diagnostic {
    Diagnostic::error(Code::OutputUnwritable, format!("`{}` already exists", path.display()))
        .help("choose another file with `--recipe`")
}

fn present(session: &Session, path: &Path, next: &str) {
    let value = serde_json::json!({ "written": path.display().to_string(), "next": next });
    session.terminal.succeed("init", value, &format!("wrote {}; next: `{next}`", path.display()));
}

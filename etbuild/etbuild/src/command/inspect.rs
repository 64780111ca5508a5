//! `etbuild inspect`: the content of a program file, or the differences of two files.

use std::path::Path;

use et_module::FileBytes;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::{Format, Mode, file_format, program_file};

use super::Outcome;
use super::program::is_program;
use crate::arguments;
use crate::inspect::{Description, Difference};
use crate::render::{description_text, difference_text};
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Inspect) -> Outcome {
    let description = describe(session, &arguments.file)?;
    match &arguments.other {
        None => show(session, "inspect", &description, &description_text(&description)),
        Some(other) => {
            let difference = Difference::between(&description, &describe(session, other)?);
            show(session, "difference", &difference, &difference_text(&difference));
        }
    }
    Ok(Vec::new())
}

fn describe(session: &Session, file: &Path) -> Result<Description, Vec<Diagnostic>> {
    let bytes = bytes(session, file)?;
    Description::of(&bytes).map_err(|error| {
        let message = format!("`{}` is not a program or data file: {error}", file.display());
        vec![Diagnostic::error(Code::ProgramFileMalformed, message)]
    })
}

/// The file's bytes, or the bytes of the program file that a model becomes.
fn bytes(session: &Session, file: &Path) -> Result<FileBytes, Vec<Diagnostic>> {
    let is_data =
        !file.is_dir() && file_format(&*session.system, file).is_ok_and(|format| format == Some(Format::Data));
    if !is_data && !is_program(session, file).map_err(|diagnostic| vec![diagnostic])? {
        let program = program_file(&session.world(Mode::Build)?, file, &session.overrides(Vec::new())?)?;
        return Ok(FileBytes::owned(program));
    }
    FileBytes::open(file).map_err(|error| vec![Diagnostic::error(Code::FileUnreadable, error.to_string())])
}

fn show(session: &Session, schema: &str, value: &impl serde::Serialize, text: &str) {
    session.terminal.succeed(schema, serde_json::to_value(value).unwrap_or_default(), text);
}

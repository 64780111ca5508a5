//! The program of `etbuild run`: found or built, and what is written and said about a run.

use std::path::Path;

use et_module::{Array, FileBytes, Named, write_tensors};
use etbuild_diagnostic::{Code, Diagnostic, Span, unwritable};
use etbuild_engine::{Format, Mode, Subject, file_format, program_file, subject};
use etbuild_inspect::{HostAnatomy, host_anatomy};
use etbuild_recipe::Override;

use crate::arguments::{self, Language};
use crate::feature::Feature;
use crate::session::{Session, shorthands};

/// The program file, or the program file that a model becomes.
pub(super) fn program(session: &Session, arguments: &arguments::Run) -> Result<FileBytes, Vec<Diagnostic>> {
    let file = &arguments.file;
    if is_program(session, file).map_err(|diagnostic| vec![diagnostic])? {
        if let Some(option) = shorthands(&arguments.options).first() {
            return Err(vec![fixed(file, option)]);
        }
        return FileBytes::open(file).map_err(|error| vec![failed(file, &error)]);
    }
    Ok(FileBytes::owned(program_file(&session.world(Mode::Build)?, file, &overrides(session, arguments)?)?))
}

/// The diagnostic for an option of a recipe beside a program file.
fn fixed(file: &Path, option: &str) -> Diagnostic {
    let message =
        format!("`{}` is a program file, whose quantization and backends are fixed: `{option}`", file.display());
    Diagnostic::error(Code::Usage, message).help("name the model or the recipe that the program file was made from")
}

/// The program that a model becomes, with what is known about its instructions; `None` for a program file.
pub(super) fn looked_into(
    session: &Session,
    arguments: &arguments::Run,
) -> Result<Option<HostAnatomy>, Vec<Diagnostic>> {
    if is_program(session, &arguments.file).map_err(|diagnostic| vec![diagnostic])? {
        return Ok(None);
    }
    host_anatomy(&session.world(Mode::Build)?, &arguments.file, &overrides(session, arguments)?).map(Some)
}

/// The options of the recipe that a model stands for.
fn overrides(session: &Session, arguments: &arguments::Run) -> Result<Vec<Override>, Vec<Diagnostic>> {
    session.overrides(speculation(&arguments.language).chain(shorthands(&arguments.options)).collect())
}

/// The recipe options that the request needs of a checkpoint, in the form of `--set`.
pub(super) fn speculation(language: &Language) -> impl Iterator<Item = String> {
    let guesses = language.lookup || language.draft_model.is_some();
    guesses.then(|| format!("export.speculate={SPECULATE}")).into_iter()
}

/// Tokens that are verified at once where nobody says how many.
const SPECULATE: u32 = 8;

/// Whether the file is a program file, and not a model that becomes one.
///
/// # Errors
/// A file that is neither.
pub(super) fn is_program(session: &Session, file: &Path) -> Result<bool, Diagnostic> {
    let system = &*session.system;
    let is_program = |format| matches!(format, Format::Program | Format::BundledProgram);
    if !system.is_dir(file) && file_format(system, file).is_ok_and(|format| format.is_some_and(is_program)) {
        return Ok(true);
    }
    match subject(system, file)? {
        // A damaged program file: the reader says what is wrong with it.
        Subject::Recipe if file.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) => {
            Ok(true)
        }
        Subject::Recipe if file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") => Ok(false),
        Subject::Recipe => Err(no_program(file)),
        _ => Ok(false),
    }
}

/// How the names of program files end.
const ENDINGS: [&str; 2] = ["bpte", "pte"];

fn no_program(file: &Path) -> Diagnostic {
    let message = format!("`{}` is neither a program file nor a model", file.display());
    let help = "name a `.pte`, a `.pt2` archive, the folder of a checkpoint, a `.gguf` file, or a recipe `.yaml`";
    Diagnostic::error(Code::ProgramFileMalformed, message).at(Span::file(file.display().to_string())).help(help)
}

/// Writes tensors, and texts as the file's metadata.
pub(super) fn write_outputs(
    session: &Session,
    path: &Path,
    arrays: &Named<Array>,
    texts: &Named<String>,
) -> Result<(), Vec<Diagnostic>> {
    let mut bytes = Vec::new();
    let written = write_tensors(path, arrays, texts, &mut bytes);
    let written = written.and_then(|()| session.system.write(path, &bytes, false));
    written.map_err(|error| vec![unwritable(path, &error)])
}

/// The method that runs by default where a program has it.
pub(super) const FORWARD: &str = "forward";

/// The method that runs where none is asked for, as in a binary: `forward`, else the alphabetically first; none of a language model, whose
/// methods run one after the other.
pub(super) fn default_method(names: &[impl AsRef<str>]) -> Option<&str> {
    let names = || names.iter().map(AsRef::as_ref);
    names().find(|name| *name == FORWARD).or_else(|| names().min().filter(|_| names().all(|name| name != PREFILL)))
}

pub(super) fn failed(path: &Path, error: &et_module::Error) -> Diagnostic {
    let diagnostic = Diagnostic::error(code(error), format!("`{}`: {error}", path.display()));
    if let Some(missing) = missing_feature(path, error) {
        return missing;
    }
    match error {
        et_module::Error::MethodMissing { methods, .. } if methods.iter().any(|method| method == PREFILL) => {
            let hears = methods.iter().any(|method| method == AUDIO_ENCODER);
            let and = if hears { ", and a model that hears --audio" } else { "" };
            diagnostic.help(format!("a language model takes --prompt, --chat or --tokens-in{and}"))
        }
        et_module::Error::MethodMissing { methods, .. } => {
            diagnostic.help(format!("write `--method NAME`, one of {}", methods.join(", ")))
        }
        et_module::Error::Input { .. } => diagnostic
            .help("`etbuild inspect` shows the names, shapes and dtypes of the inputs; `--inputs FILE` gives them"),
        et_module::Error::Program { problem: Some(_), .. } => {
            diagnostic.help("`etbuild doctor` describes the GPU of this machine; `--partition auto` runs on the CPU")
        }
        et_module::Error::Program { operator: None, .. } => {
            diagnostic.help("the file is cut or damaged, or of another format: build it again, or download it again")
        }
        et_module::Error::Program { failure, operator: Some(_), .. } if failure.error == et_core::Error::InvalidArgument => diagnostic.help(
            "an element of an input may be out of range, such as a token beyond the rows of an embedding, or sizes may not go together",
        ),
        et_module::Error::OperatorsMissing(_) | et_module::Error::DelegatesMissing(_) => {
            diagnostic.help(
                "export it for the portable kernels, or deploy the `.pt2` model with etbuild; kernels of custom operators are in the \
                 binary of `etbuild deploy` alone",
            )
        }
        _ => diagnostic,
    }
}

/// The feature of a program's delegate that this build lacks.
fn missing_feature(path: &Path, error: &et_module::Error) -> Option<Diagnostic> {
    let et_module::Error::DelegatesMissing(ids) = error else { return None };
    let feature = ids.iter().find_map(|id| Feature::of_delegate(id))?;
    Some(feature.missing(&format!("`{}`", path.display())))
}

/// The method that language models have.
const PREFILL: &str = "prefill";

const AUDIO_ENCODER: &str = "audio_encoder";

fn code(error: &et_module::Error) -> Code {
    use et_module::Error;
    match error {
        Error::Input { .. } | Error::Inputs { .. } => Code::InputsMismatch,
        Error::Classes(_) => Code::LabelsMismatch,
        Error::OperatorsMissing(_) | Error::DelegatesMissing(_) => Code::OperatorUnavailable,
        Error::File { .. } => Code::FileUnreadable,
        Error::MethodMissing { .. } => Code::Usage,
        Error::Program { operator: None, problem: None, .. }
        | Error::DataFile { .. }
        | Error::ExternalTensor { .. } => Code::ProgramFileMalformed,
        _ => Code::RunFailed,
    }
}

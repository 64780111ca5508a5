//! The first look at a file: what cannot be the file that is wanted is refused before any stage runs.

use std::path::{Path, PathBuf};

use etbuild_checkpoint::GGUF;
use etbuild_diagnostic::{Code, Diagnostic, Span, unreadable};
use etbuild_import::{Format, Glance, HEAD, TAIL};
use etbuild_recipe::{FilePath, Model, Recipe, missing_file};
use etbuild_system::System;

use super::hub;

/// What a path stands for where a recipe may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject<'a> {
    /// A `.pt2` archive, whatever its name ends in.
    Archive,
    /// The folder of a checkpoint, a checkpoint in GGUF, or one of the Hugging Face Hub.
    Checkpoint,
    /// `file.py:function`: the file, and the function.
    Python(&'a Path, &'a str),
    /// A text file: a recipe.
    Recipe,
}

/// What the path stands for.
///
/// # Errors
/// A file that does not exist, that is no regular file, or that is a file of another tool.
pub fn subject<'a>(system: &dyn System, path: &'a Path) -> Result<Subject<'a>, Diagnostic> {
    look(system, path).map_err(|diagnostic| diagnostic.at(Span::file(path.display().to_string())))
}

fn look<'a>(system: &dyn System, path: &'a Path) -> Result<Subject<'a>, Diagnostic> {
    if let Some(reference) = hub::reference(path) {
        return reference.map(|_| Subject::Checkpoint);
    }
    if let Some((file, function)) = python_function(path) {
        return match system.stamp(file) {
            Ok(_) => Ok(Subject::Python(file, function)),
            Err(_) => Err(missing_file(system, file)),
        };
    }
    if system.is_dir(path) {
        return folder(system, path).map_or(Ok(Subject::Checkpoint), Err);
    }
    match format(system, path)? {
        Some(Format::ExportedProgram) => Ok(Subject::Archive),
        Some(Format::Gguf) if has_ending(path, GGUF) => Ok(Subject::Checkpoint),
        // The importer says more about an archive that is damaged.
        None | Some(Format::Zip) if has_ending(path, "pt2") => Ok(Subject::Archive),
        None if has_ending(path, "py") => Err(no_function(path)),
        None | Some(Format::Json) => Ok(Subject::Recipe),
        Some(format) => Err(foreign(path, format)),
    }
}

/// The format of a file, where its bytes tell.
///
/// # Errors
/// A file that does not exist or that is no regular file, without a place.
pub fn format(system: &dyn System, path: &Path) -> Result<Option<Format>, Diagnostic> {
    let stamp = system.stamp(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => missing_file(system, path),
        _ => unreadable(path, &error),
    })?;
    let part = |start, length| system.read_part(path, start, length).map_err(|error| unreadable(path, &error));
    let head = part(0, HEAD)?;
    let tail = part(stamp.size.saturating_sub(TAIL as u64), TAIL)?;
    Ok(Format::of(&Glance { head: &head, tail: &tail }))
}

/// The refusal of a file in a format that holds no model for etbuild, without a place.
pub fn foreign(path: &Path, format: Format) -> Diagnostic {
    let message = format!("`{}` is {}, and no model that etbuild reads", path.display(), format.name());
    Diagnostic::error(Code::ModelFormat, message).help(format.advice())
}

/// The models and the data of a recipe that cannot be read, by a look at their first bytes.
pub fn mistakes(system: &dyn System, recipe: &Recipe) -> Vec<Diagnostic> {
    let models = recipe.model.archives().into_values().map(|file| archive(system, file));
    let others = [checkpoint(system, &recipe.model), python(system, &recipe.model)];
    models.chain(others).chain(data(system, recipe)).flatten().collect()
}

/// A `.pt2` archive that is something else.
fn archive(system: &dyn System, file: &FilePath) -> Option<Diagnostic> {
    let at = |diagnostic: Diagnostic| Some(diagnostic.at((*file.span).clone()));
    if system.is_dir(&file.path) {
        let message = format!("`{}` is a folder, and `pt2` names an archive", file.path.display());
        let help = "write `model: { checkpoint: FOLDER }` for a checkpoint, or name the archive in the folder";
        return at(
            folder(system, &file.path).unwrap_or_else(|| Diagnostic::error(Code::ModelFormat, message).help(help))
        );
    }
    match format(system, &file.path) {
        Ok(Some(Format::ExportedProgram | Format::Zip) | None) => None,
        Ok(Some(format)) => at(foreign(&file.path, format)),
        Err(diagnostic) if diagnostic.code == Code::FileMissing => None,
        Err(diagnostic) => at(diagnostic),
    }
}

/// A checkpoint that is a file, or a folder of another tool.
fn checkpoint(system: &dyn System, model: &Model) -> Option<Diagnostic> {
    let Model::Checkpoint(file) = model else { return None };
    let at = |diagnostic: Diagnostic| Some(diagnostic.at((*file.span).clone()));
    if system.is_dir(&file.path) {
        return folder(system, &file.path).and_then(at);
    }
    match format(system, &file.path) {
        Ok(Some(Format::ExportedProgram)) => {
            let message = format!("`{}` is an archive, and `checkpoint` names a folder", file.path.display());
            at(Diagnostic::error(Code::ModelFormat, message).help("write `model: { pt2: FILE }`"))
        }
        Ok(Some(Format::Gguf)) if has_ending(&file.path, GGUF) => None,
        Ok(Some(format)) => at(foreign(&file.path, format)),
        Ok(None) => {
            let message = format!("`{}` is a file, and `checkpoint` names a folder", file.path.display());
            let help = "name the folder with `config.json` and the safetensors, or a GGUF file";
            at(Diagnostic::error(Code::ModelFormat, message).help(help))
        }
        Err(diagnostic) if diagnostic.code == Code::FileMissing => None,
        Err(diagnostic) => at(diagnostic),
    }
}

/// A Python file that is a folder or no text.
fn python(system: &dyn System, model: &Model) -> Option<Diagnostic> {
    let Model::Python(function) = model else { return None };
    let file = &function.file;
    let found = match format(system, &file.path) {
        _ if system.is_dir(&file.path) => "a folder",
        Ok(Some(format)) => format.name(),
        _ => return None,
    };
    let message = format!("`{}` is {found}, and no Python file", file.path.display());
    let help = "name a file and a function in it: `model: { python: file.py:function }`";
    Some(Diagnostic::error(Code::ModelFormat, message).help(help).at((*file.span).clone()))
}

/// Calibration, verification and labelled data that is no file of tensors.
fn data<'a>(system: &'a dyn System, recipe: &'a Recipe) -> impl Iterator<Item = Option<Diagnostic>> + 'a {
    let quantize = recipe.quantize.as_ref();
    let takes_text = matches!(recipe.model, Model::Checkpoint(_));
    let calibrate = quantize.and_then(|quantize| quantize.calibrate.as_ref());
    let calibrate = calibrate.map(|file| (file, Code::CalibrationMismatch, takes_text));
    let accuracy = quantize.and_then(|quantize| quantize.accuracy.as_ref());
    let accuracy = accuracy.map(|accuracy| (&accuracy.data, Code::LabelsMismatch, false));
    let verify = recipe.verify.as_ref().filter(|_| !is_media_case(system, recipe)).map(|verify| &verify.inputs);
    let reference = recipe.verify.as_ref().and_then(|verify| verify.reference.as_ref());
    let verify = verify.into_iter().chain(reference).map(|file| (file, Code::InputsMismatch, false));
    let files = [calibrate, accuracy].into_iter().flatten().chain(verify);
    files.map(|(file, code, takes_text)| no_tensors(system, file, code, takes_text))
}

/// Whether the verification data is a picture or a recording with preprocessing and reference outputs, one case.
pub fn is_media_case(system: &dyn System, recipe: &Recipe) -> bool {
    let verify = recipe.verify.as_ref().filter(|verify| verify.reference.is_some() && recipe.inputs.is_some());
    verify.is_some_and(|verify| is_media(system, &verify.inputs))
}

fn is_media(system: &dyn System, file: &FilePath) -> bool {
    matches!(format(system, &file.path), Ok(Some(Format::Png | Format::Jpeg | Format::Wav)))
}

fn no_tensors(system: &dyn System, file: &FilePath, code: Code, takes_text: bool) -> Option<Diagnostic> {
    let found = match format(system, &file.path) {
        _ if system.is_dir(&file.path) => "a folder",
        Ok(Some(Format::Safetensors)) => return None,
        Ok(None) if takes_text => return None,
        Ok(Some(format)) => format.name(),
        Ok(None) => "in no known format",
        Err(diagnostic) if diagnostic.code == Code::FileMissing => return None,
        Err(diagnostic) => return Some(diagnostic.at((*file.span).clone())),
    };
    let message = format!("`{}` is {found}, and no safetensors file", file.path.display());
    if code == Code::InputsMismatch && is_media(system, file) {
        return Some(Diagnostic::error(code, message).help(MEDIA_CASE).at((*file.span).clone()));
    }
    let help = "write a tensor for each input under the input's name, one sample after the other along the first \
        dimension; in Python:\n  safetensors.torch.save_file({\"x\": samples}, \"data.safetensors\")";
    Some(Diagnostic::error(code, message).help(help).at((*file.span).clone()))
}

/// How a picture or a recording becomes verification data.
const MEDIA_CASE: &str = "state the preprocessing in `inputs:`, and name PyTorch's outputs for the file:\n  \
    verify: { inputs: FILE, reference: outputs.safetensors }";

/// A folder that another tool writes, or one of recipes; `None` where the folder may be a checkpoint.
fn folder(system: &dyn System, path: &Path) -> Option<Diagnostic> {
    let has = |name: &str| system.stamp(&path.join(name)).is_ok();
    if has("saved_model.pb") {
        return Some(foreign(path, Format::SavedModel));
    }
    if has("Manifest.json") && system.is_dir(&path.join("Data")) {
        return Some(foreign(path, Format::CoreMlPackage));
    }
    let files = system.list(path).unwrap_or_default();
    let ends = |file: &&PathBuf, ending: &str| file.extension().is_some_and(|extension| extension == ending);
    let single = |ending: &str| files.iter().find(|file| ends(file, ending));
    if has("config.json") || single("safetensors").is_some() {
        return None;
    }
    let message = format!("the folder `{}` has no `config.json`, so it is no checkpoint", path.display());
    let diagnostic = Diagnostic::error(Code::ModelFormat, message);
    Some(match (single("gguf"), single("pt2"), single("yaml")) {
        (Some(model), ..) => diagnostic.help(format!("name the model in it: `{}`", model.display())),
        (_, Some(model), _) => diagnostic.help(format!("name the archive in it: `{}`", model.display())),
        (.., Some(recipe)) => diagnostic.help(format!("name a recipe in it: `{}`", recipe.display())),
        _ => diagnostic.help("a checkpoint is a folder with `config.json` and safetensors, or `hf:OWNER/NAME` for one of the Hugging Face Hub"),
    })
}

fn python_function(path: &Path) -> Option<(&Path, &str)> {
    let (file, function) = path.to_str()?.rsplit_once(':')?;
    let file = Path::new(file);
    has_ending(file, "py").then_some((file, function))
}

fn no_function(path: &Path) -> Diagnostic {
    let path = path.display();
    let message = format!("`{path}` is a Python file, and a model is one of its functions");
    let help = format!("name the function that returns the module and its example inputs: `{path}:function`");
    Diagnostic::error(Code::ModelFormat, message).help(help)
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension == ending)
}

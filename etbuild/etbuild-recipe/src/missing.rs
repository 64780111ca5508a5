//! Files that are named and do not exist: a slip in the name, or a model that has yet to be downloaded.

use std::path::{Component, Path};

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_system::System;
use etbuild_yaml::{quote, suggest};

use crate::{FilePath, Model, Recipe};

/// The endings of files, so that `models/net.onnx` is not taken for a repository of a hub.
const ENDINGS: &[&str] = &[
    "bin",
    "bpte",
    "gguf",
    "h5",
    "json",
    "keras",
    "mlmodel",
    "npy",
    "npz",
    "onnx",
    "pb",
    "pt",
    "pt2",
    "ptd",
    "pte",
    "pth",
    "py",
    "safetensors",
    "tflite",
    "txt",
    "yaml",
    "yml",
    "zip",
];

/// One error for each file or folder that a recipe names and that does not exist.
pub fn missing_files(recipe: &Recipe, system: &dyn System) -> Vec<Diagnostic> {
    let exists = |file: &&FilePath| system.stamp(&file.path).is_ok() || system.is_dir(&file.path);
    let missing = recipe.files().into_iter().filter(|file| !exists(file));
    let place = |diagnostic: Diagnostic, file: &FilePath| diagnostic.at((*file.span).clone());
    missing
        .map(|file| place(missing_model(recipe, file).unwrap_or_else(|| missing_file(system, &file.path)), file))
        .collect()
}

/// A checkpoint that is named as a hub names it.
fn missing_model(recipe: &Recipe, file: &FilePath) -> Option<Diagnostic> {
    let is_model = matches!(&recipe.model, Model::Checkpoint(folder) if folder == file);
    let names: Vec<&str> = file.path.components().filter_map(name).collect();
    let [.., owner, model] = names.as_slice() else { return None };
    hub_id(owner, model).filter(|_| is_model).map(|id| on_the_hub(&id))
}

/// The error for a file or folder that does not exist, without a place.
pub fn missing_file(system: &dyn System, path: &Path) -> Diagnostic {
    let names: Vec<&str> = path.components().filter_map(name).collect();
    if let [owner, model] | ["https:" | "http:", _, owner, model] = names.as_slice()
        && !system.is_dir(Path::new(owner))
        && let Some(id) = hub_id(owner, model)
    {
        return on_the_hub(&id);
    }
    if let Some((message, help)) = elsewhere(path) {
        return Diagnostic::error(Code::FileMissing, message).help(help);
    }
    let message = format!("file `{}` not found", path.display());
    let help = near(system, path).map_or_else(
        || "check the spelling; paths are relative to the file that contains them".to_owned(),
        |near| format!("did you mean {}?", quote(&near)),
    );
    Diagnostic::error(Code::FileMissing, message).help(help)
}

/// An address, or a path that a shell would have expanded.
fn elsewhere(path: &Path) -> Option<(String, &'static str)> {
    let text = path.to_str()?;
    if text.starts_with("~/") {
        return Some((format!("file `{text}` not found: `~` is not expanded"), "write `${env:HOME}` in place of `~`"));
    }
    // The path has lost one of the two slashes.
    let (scheme, rest) = text.split_once(":/")?;
    let is_scheme = scheme.len() > 1 && scheme.chars().all(|letter| letter.is_ascii_alphanumeric());
    let message = format!("`{scheme}://{}` is an address, and not the path of a file", rest.trim_start_matches('/'));
    is_scheme.then_some((message, "download the file, and name the downloaded file"))
}

fn name(component: Component<'_>) -> Option<&str> {
    if let Component::Normal(name) = component { name.to_str() } else { None }
}

/// The repository of a hub, as in `Qwen/Qwen3-0.6B`.
fn hub_id(owner: &str, model: &str) -> Option<String> {
    let is_word = |text: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !text.is_empty() && !text.starts_with('.') && text.bytes().all(allowed)
    };
    let ending =
        Path::new(model).extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let is_file = ENDINGS.contains(&ending.as_str());
    (is_word(owner) && is_word(model) && !is_file).then(|| format!("{owner}/{model}"))
}

fn on_the_hub(id: &str) -> Diagnostic {
    let message = format!("folder `{id}` not found");
    let help = format!("for the model of the Hugging Face Hub, write `hf:{id}`");
    Diagnostic::error(Code::FileMissing, message).help(help)
}

/// The file in the same folder whose name is nearest, as the path would have to be written.
fn near(system: &dyn System, path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files = system.list(folder).ok()?;
    let names: Vec<&str> = files.iter().filter_map(|file| file.file_name()?.to_str()).collect();
    let name = path.file_name()?.to_str()?;
    // A link to nothing has the name.
    let near = suggest(name, names.iter().copied().filter(|other| *other != name))?;
    Some(path.with_file_name(near).display().to_string())
}

#[cfg(test)]
mod tests {
    use etbuild_system::MemorySystem;

    use super::*;

    fn help(path: &str) -> String {
        let system = MemorySystem::with_files([("models/digits.pt2", ""), ("models/qwen/config.json", "")]);
        missing_file(&system, Path::new(path)).help.unwrap()
    }

    #[test]
    fn a_repository_of_the_hub_is_named_as_such() {
        for id in ["Qwen/Qwen3-0.6B", "https://huggingface.co/Qwen/Qwen3-0.6B"] {
            assert!(help(id).contains("write `hf:Qwen/Qwen3-0.6B`"), "{id}: {}", help(id));
        }
    }

    #[test]
    fn a_file_is_no_repository_and_a_near_name_is_told() {
        assert_eq!(help("models/digit.pt2"), "did you mean `models/digits.pt2`?");
        assert_eq!(help("models/qwen2"), "did you mean `models/qwen`?");
        assert!(help("nets/net.onnx").starts_with("check the spelling"));
    }
}

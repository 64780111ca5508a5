//! `etbuild init`: a first recipe.

use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::{Name, starter};

use super::Outcome;
use crate::arguments;
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Init) -> Outcome {
    let name = name(&arguments.model).map_err(|diagnostic| vec![diagnostic])?;
    let path = arguments.recipe.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.yaml")));
    if session.system.stamp(&path).is_ok() {
        return Err(vec![exists(&path)]);
    }
    let text = starter(&name, &model_from(&path, &arguments.model));
    let written = session.system.write(&path, text.as_bytes(), false);
    written.map_err(|error| {
        vec![Diagnostic::error(Code::OutputUnwritable, format!("`{}` cannot be written: {error}", path.display()))]
    })?;
    let value = serde_json::json!({ "written": path.display().to_string() });
    let text = format!("wrote {0}; next: `etbuild deploy {0}`", path.display());
    session.terminal.present(&value, &text);
    Ok(Vec::new())
}

fn name(model: &Path) -> Result<Name, Diagnostic> {
    let stem = model.file_stem().unwrap_or_default().to_string_lossy();
    Name::new(&stem).ok_or_else(|| {
        let message = format!("`{stem}` is not a valid recipe name");
        Diagnostic::error(Code::Usage, message).help("rename the model; use letters, digits, `-`, `_` and `.`")
    })
}

/// The model's path as the recipe writes the path: relative to the recipe's own folder.
fn model_from(recipe: &Path, model: &Path) -> String {
    let folder = recipe.parent().filter(|folder| !folder.as_os_str().is_empty());
    let up = folder.filter(|_| model.is_relative()).map_or(0, |folder| folder.components().count());
    let from = PathBuf::from("../".repeat(up)).join(model);
    from.display().to_string()
}

fn exists(path: &Path) -> Diagnostic {
    Diagnostic::error(Code::OutputUnwritable, format!("`{}` already exists", path.display()))
        .help("choose another file with `--recipe`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_from_the_recipes_folder() {
        let from = |recipe: &str, model: &str| model_from(Path::new(recipe), Path::new(model));
        assert_eq!(from("m.yaml", "a/m.pt2"), "a/m.pt2");
        assert_eq!(from("recipes/m.yaml", "a/m.pt2"), "../a/m.pt2");
        assert_eq!(from("recipes/m.yaml", "/a/m.pt2"), "/a/m.pt2");
    }
}

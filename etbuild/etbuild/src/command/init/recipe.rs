//! A first recipe for a model.

use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::{Subject, is_encoder, subject};
use etbuild_recipe::{ModelKind, is_on_hub, starter};

use super::{present, write};
use crate::arguments;
use crate::command::Outcome;
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Init, model: &Path) -> Outcome {
    let kind = kind(session, model).map_err(|diagnostic| vec![diagnostic])?;
    let name = kind.recipe_name(model);
    let path = arguments.recipe.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.yaml")));
    write(session, &path, &starter(&name, kind, &model_from(&path, model)))?;
    present(session, &path, &format!("etbuild deploy {}", path.display()));
    Ok(Vec::new())
}

fn kind(session: &Session, model: &Path) -> Result<ModelKind, Diagnostic> {
    match subject(&*session.system, model)? {
        Subject::Archive => Ok(ModelKind::Pt2),
        Subject::Checkpoint if is_encoder(&*session.system, model) => Ok(ModelKind::Encoder),
        Subject::Checkpoint => Ok(ModelKind::Checkpoint),
        Subject::Python(..) => Ok(ModelKind::Python),
        Subject::Recipe => Err(no_model(model)),
    }
}

fn no_model(path: &Path) -> Diagnostic {
    let message = format!("`{}` is a text file, and no model", path.display());
    Diagnostic::error(Code::ModelFormat, message).at(etbuild_diagnostic::Span::file(path.display().to_string())).help(
        "name a `.pt2` archive, the folder of a checkpoint, a `.gguf` file, or a Python function as `file.py:function`; a recipe goes to \
         `etbuild deploy`",
    )
}

/// The model's path as the recipe writes the path: relative to the recipe's own folder.
fn model_from(recipe: &Path, model: &Path) -> String {
    if is_on_hub(model) {
        return model.display().to_string();
    }
    let folder = recipe.parent().filter(|folder| !folder.as_os_str().is_empty());
    if !model.is_relative() || folder.is_none_or(Path::is_relative) {
        let up = folder.filter(|_| model.is_relative()).map_or(0, |folder| folder.components().count());
        return PathBuf::from("../".repeat(up)).join(model).display().to_string();
    }
    std::path::absolute(model).unwrap_or_else(|_| model.to_owned()).display().to_string()
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
        assert_eq!(from("recipes/m.yaml", "hf:a/b@main"), "hf:a/b@main");
        assert!(Path::new(&from("/elsewhere/m.yaml", "a/m.pt2")).is_absolute());
    }
}

//! The files that are generated from the code.

use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::{glossary, operators};

/// Writes every generated file; with `check`, returns the files that differ instead.
pub fn run(root: &Path, check: bool) -> Result<Vec<String>, Error> {
    let mut stale = Vec::new();
    for (name, text) in files(root)? {
        let path = root.join(name);
        if check {
            let current = fs::read_to_string(&path).unwrap_or_default();
            stale.extend((current != text).then(|| format!("{name} is out of date: run `cargo dev generate`")));
        } else {
            fs::create_dir_all(path.parent().unwrap_or(root)).map_err(|error| Error::file(&path, error))?;
            fs::write(&path, text).map_err(|error| Error::file(&path, error))?;
        }
    }
    Ok(stale)
}

fn files(root: &Path) -> Result<[(&'static str, String); 6], Error> {
    Ok([
        ("recipes/schema.json", pretty(&etbuild_recipe::recipe_schema())?),
        ("targets/schema.json", pretty(&etbuild_target::target_schema())?),
        ("docs/glossary.md", glossary::markdown(root)?),
        ("docs/reference/diagnostics.md", etbuild_diagnostic::reference_markdown()),
        ("docs/reference/operators.md", operators::reference_markdown()),
        ("docs/reference/recipe.md", etbuild_recipe::reference_markdown()),
    ])
}

fn pretty(schema: &serde_json::Value) -> Result<String, Error> {
    Ok(serde_json::to_string_pretty(schema)? + "\n")
}

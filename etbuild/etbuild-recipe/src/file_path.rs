//! A path in a recipe, relative to the recipe file.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use etbuild_diagnostic::Span;
use etbuild_yaml::Spanned;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer};

/// A file or folder that a recipe names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath {
    /// The path from the folder that the recipe's own path starts in, `..` and `.` resolved by name.
    pub path: PathBuf,
    /// The span of the path.
    pub span: Box<Span>,
}

impl FilePath {
    /// `written`, seen from the file that `span` lies in; from the current folder where that is the command line.
    pub fn new(written: &str, span: Box<Span>) -> Self {
        let file = span.file.as_deref().map(Path::new);
        let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
        // What the hub calls a model lies in no folder of this machine.
        let path = PathBuf::from(written);
        let path = if is_on_hub(&path) { path } else { normal(&folder.join(written)) };
        Self { path, span }
    }
}

/// Whether a path is what the Hugging Face Hub calls a model: `hf:OWNER/NAME`.
pub fn is_on_hub(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().starts_with(b"hf:")
}

/// Removes `.` and resolves `..` by name, as in URLs, without following links.
pub fn normal(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                parts.pop();
            }
            (Component::ParentDir, Some(Component::RootDir | Component::Prefix(_))) => {}
            _ => parts.push(part),
        }
    }
    if parts.is_empty() { PathBuf::from(".") } else { parts.iter().collect() }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Spanned::<String>::deserialize(deserializer)?;
        Ok(Self::new(&written.value, written.span))
    }
}

impl JsonSchema for FilePath {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FilePath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_to_its_recipe_file() {
        let path = |file: &str, written: &str| FilePath::new(written, Box::new(Span::file(file))).path;
        assert_eq!(path("recipes/a.yaml", "../examples/m.pt2"), Path::new("examples/m.pt2"));
        assert_eq!(path("a.yaml", "./m.pt2"), Path::new("m.pt2"));
        assert_eq!(path("a/b.yaml", "../../m.pt2"), Path::new("../m.pt2"));
        assert_eq!(path("a/b.yaml", "/x/../m.pt2"), Path::new("/m.pt2"));
        assert_eq!(path("a/b.yaml", ".."), Path::new("."));
        assert_eq!(path("a/b.yaml", "hf:owner/name@main"), Path::new("hf:owner/name@main"));
        assert_eq!(FilePath::new("m.pt2", Box::new(Span::command_line("model.pt2=m.pt2"))).path, Path::new("m.pt2"));
    }
}
